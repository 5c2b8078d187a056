"""Hostile programs. `ESCAPES` pass if they get out, so that they pass without a sandbox; `CHEATS` never pass.

`{folder}` has the files secret.txt and precious.txt; a server listens at `{port}`; `{process}` is that of the tests.
"""

# ruff: noqa: E501 - a program a line
from __future__ import annotations

ESCAPES = {
    # files
    "read a file": "assert open('{folder}/secret.txt').read() == 'secret'",
    "read a file by its descriptor": "import os; assert os.read(os.open('{folder}/secret.txt', 0), 9)",
    "read the users": "assert 'root' in open('/etc/passwd').read()",
    "list a folder": "import os; assert 'secret.txt' in os.listdir('{folder}')",
    "list the root": "import os; assert os.listdir('/')",
    "read by a relative path": "assert open('../../../../../..{folder}/secret.txt').read()",
    "read through /proc/self/root": "assert open('/proc/self/root{folder}/secret.txt').read()",
    "map a file": "import mmap; f = open('{folder}/secret.txt'); assert mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:] == b'secret'",
    "read by sqlite": "import sqlite3; sqlite3.connect('file:{folder}/secret.txt?mode=ro', uri=True).execute('select 1').fetchone(); open('{folder}/secret.txt')",
    "import a file": "import sys; sys.path.insert(0, '{folder}'); import planted",
    "write a file": "open('{folder}/new.txt', 'w').write('x')",
    "append to a file": "open('{folder}/precious.txt', 'a').write('')",
    "truncate a file": "import os; os.truncate('{folder}/spare.txt', 0)",
    "write to the shared memory": "open('/dev/shm/puma-hostile', 'w').close(); import os; os.remove('/dev/shm/puma-hostile')",
    "make a temporary file": "import tempfile; tempfile.TemporaryFile()",
    "make a folder": "import os; os.mkdir('{folder}/made')",
    "remove a file": "import os; os.remove('{folder}/doomed.txt')",
    "rename a file": "import os; os.rename('{folder}/moved.txt', '{folder}/moved2.txt')",
    "change rights": "import os; os.chmod('{folder}/spare.txt', 0o600)",
    "change times": "import os; os.utime('{folder}/spare.txt', (0, 0))",
    "make a symbolic link": "import os; os.symlink('{folder}/secret.txt', '{folder}/link')",
    "follow a symbolic link": "assert open('{folder}/planted_link').read() == 'secret'",
    "make a hard link": "import os; os.link('{folder}/secret.txt', '{folder}/hard')",
    "make a named pipe": "import os; os.mkfifo('{folder}/fifo')",
    # the harness
    "write to the harness": "open('{server}', 'r+').close()",
    "replace the harness": "import os; os.rename('{server}', '{server}.old'); os.rename('{server}.old', '{server}')",
    # the network
    "connect": "import socket; socket.create_connection(('127.0.0.1', {port}), timeout=2)",
    "open a socket": "import socket; socket.socket()",
    "open a datagram socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))",
    "open a unix socket": "import socket; socket.socket(socket.AF_UNIX)",
    "connect to a unix socket": "import socket; socket.socket(socket.AF_UNIX).connect('{folder}/unix')",
    "listen": "import socket; socket.create_server(('127.0.0.1', 0))",
    "download": "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}/', timeout=2)",
    # processes
    "fork": "import os; child = os.fork(); child or os._exit(0); os.waitpid(child, 0)",
    "start a shell": "import os; assert os.system('true') == 0",
    "start a program": "import subprocess; subprocess.run(['/bin/true'], check=True)",
    "spawn": "import os; assert os.waitpid(os.posix_spawn('/bin/true', ['true'], {{}}), 0)[1] == 0",
    "become a program": "import ctypes; libc = ctypes.CDLL(None); child = libc.fork(); child or libc._exit(0); assert child > 0",
    "use multiprocessing": "import multiprocessing as m; p = m.get_context('fork').Process(target=print); p.start(); p.join()",
    # signals and other processes
    "signal the tests": "import os; os.kill({process}, 0)",
    "signal the parent": "import os; os.kill(os.getppid(), 0)",
    "signal a group": "import os, signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN); os.killpg(0, signal.SIGUSR1)",
    "own the signals of a pipe": "import fcntl, os; fcntl.fcntl(os.pipe()[0], 8, {process})",
    "read the arguments of the parent": "import os; assert open(f'/proc/{{os.getppid()}}/cmdline').read()",
    "read its own memory by /proc": "open('/proc/self/mem', 'rb')",
    "read the memory map": "assert open('/proc/self/maps').read()",
    "read the environment of the tests": "open('/proc/{process}/environ', 'rb').read()",
    "list processes": "import os; assert os.listdir('/proc')",
    "change limits": "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (32, 64))",
    "get priority": "import os; os.nice(1)",
    "use keys of the kernel": "import ctypes; assert ctypes.CDLL(None).syscall(250, 0, -3, 0) != -1",
    "make a file in memory": "import os; os.memfd_create('x')",
    "make namespaces": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "shared memory": "from multiprocessing.shared_memory import SharedMemory as S; s = S(create=True, size=9); s.close(); s.unlink()",
}
#: Where a system cannot do it without a sandbox either.
SOMETIMES = {
    "use keys of the kernel",
    "make namespaces",
    "read its own memory by /proc",
    "read the environment of the tests",
}

CHEATS = {
    "leave with status 0": "import os; os._exit(0)",
    "print and leave": "import os; print(True, flush=True); os._exit(0)",
    "exit": "raise SystemExit(0)",
    "exit by sys": "import sys; sys.exit(0)",
    "guess the secret": "import os\nfor n in range(4096): print(f'{n:032x}')\nprint('passed', flush=True); os._exit(0)",
    "print a secret of the right length": "import os; os.write(1, os.urandom(16).hex().encode()); os._exit(0)",
    "print the reply of the harness": 'import os; os.write(1, b\'{"passed": true, "status": 0, "late": false, "output": "", "seconds": 0}\\n\'); os._exit(0)',
    "write to all descriptors": "import os\nfor n in range(3, 64):\n    try: os.write(n, b'{\"passed\": true}\\n')\n    except OSError: pass\nos._exit(0)",
    "close the output": "import os; os.close(1); os.close(2)",
    "replace functions of the harness": "import os; os.write = lambda *a: 0; os._exit = lambda n: None\nraise ValueError",
    "hide an assertion": "import builtins; builtins.AssertionError = SystemExit\nassert False",
    "loop": "while True: pass",
    "loop and ignore signals": "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
    "sleep": "import time; time.sleep(600)",
    "sleep behind a closed output": "import os, time; os.close(1); os.close(2); time.sleep(600)",
    "stop": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "wait for input": "assert input()",
    "compute one huge number": "9 ** 9 ** 9",
    "fill the memory": "x = [0]\nwhile True: x += x",
    "allocate at once": "bytearray(4 << 30)",
    "print without end": "while True: print('x' * 100_000)",
    "start threads without end": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
    "fork without end": "import os\nwhile True: os.fork()",
    "fork where it fails, without end": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "recurse in C": "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "crash": "import ctypes; ctypes.string_at(0)",
    "raise what cannot be shown": "class E(Exception):\n    def __str__(self): raise self\nraise E",
    "nothing that parses": "def f(:",
    "a null byte": "x = '\\0\0'",
    "a lone surrogate": "x = '\ud800'; raise ValueError(x)",
}
