"""The system calls that a confined program may make, as a filter of Linux's seccomp.

All that are not listed fail with EPERM: sockets, new processes, signals to others, changes of files. Threads are
allowed. Opening files is: Landlock decides which. Compilers, and shells, may start processes, too, but no process
leaves the group in which it is ended.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator

#: Names of machines in `os.uname()`, and how filters see them.
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: The name of each call, its number on x86_64 and on aarch64; "-": the younger machine does not have it. Of files and
#: pipes, to read; of memory; of threads, signals of its own and clocks; of what the process is.
_ALLOWED = """
read 0 63; pread64 17 67; readv 19 65; open 2 -; openat 257 56;
write 1 64; pwrite64 18 68; writev 20 66; close 3 57; lseek 8 62;
stat 4 -; fstat 5 80; lstat 6 -; newfstatat 262 79; statx 332 291;
access 21 -; faccessat 269 48; faccessat2 439 439; fadvise64 221 223;
readlink 89 -; readlinkat 267 78; getdents64 217 61; getcwd 79 17;
dup 32 23; dup2 33 -; dup3 292 24; pipe 22 -; pipe2 293 59;
poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72; eventfd2 290 19;
epoll_create1 291 20; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22;
mmap 9 222; mprotect 10 226; munmap 11 215; brk 12 214; mremap 25 216;
madvise 28 233; mincore 27 232; membarrier 324 283;
futex 202 98; set_robust_list 273 99; set_tid_address 218 96; rseq 334 293;
sched_yield 24 124; sched_getaffinity 204 123; arch_prctl 158 -; getcpu 309 168;
rt_sigaction 13 134; rt_sigprocmask 14 135; rt_sigreturn 15 139; sigaltstack 131 132;
nanosleep 35 101; clock_nanosleep 230 115; pause 34 -; restart_syscall 219 128;
alarm 37 -; setitimer 38 103; getitimer 36 102; gettimeofday 96 169;
clock_gettime 228 113; clock_getres 229 114; exit 60 93; exit_group 231 94;
getpid 39 172; getppid 110 173; gettid 186 178; getpgrp 111 -;
getuid 102 174; geteuid 107 175; getgid 104 176; getegid 108 177;
uname 63 160; sysinfo 99 179; times 100 153; getrusage 98 165;
getrlimit 97 163; getrandom 318 278; getgroups 115 158
"""
#: The same for those who start processes.
_STARTING = "fork 57 -; vfork 58 -; wait4 61 260; waitid 247 95"
#: The same for compilers and what they compile: to become it, and the files that Landlock leaves them.
_OF_TOOLS = """
execve 59 221;
rt_sigsuspend 130 133; rt_sigtimedwait 128 137; chdir 80 49; fchdir 81 50; umask 95 166;
creat 85 -; unlink 87 -; unlinkat 263 35; mkdir 83 -; mkdirat 258 34;
rmdir 84 -; rename 82 -; renameat 264 38; renameat2 316 276; link 86 -;
linkat 265 37; symlink 88 -; symlinkat 266 36; chmod 90 -; fchmod 91 52;
fchmodat 268 53; truncate 76 45; ftruncate 77 46; fallocate 285 47; flock 73 32;
fsync 74 82; fdatasync 75 83; utimensat 280 88; statfs 137 43; fstatfs 138 44;
copy_file_range 326 285; sendfile 40 71; getpgid 121 155; getsid 124 156; prctl 157 167;
socketpair 53 199; recvfrom 45 207
"""
_CLONE, _CLONE3, _KILL, _TGKILL = (56, 220), (435, 435), (62, 129), (234, 131)
_FCNTL, _PRLIMIT, _IOCTL = (72, 25), (302, 261), (16, 29)
_CLONE_THREAD = 0x10000
#: Of mounts, cgroups, host names, shared memory, users, processes, the network.
_CLONE_NAMESPACES = 0x7E020000
#: Commands of fcntl that let another process receive a signal.
_F_SETOWN, _F_SETOWN_EX = 8, 15
#: Command of ioctl: not to wait for a pipe.
_FIONBIO = 0x5421

_LOAD, _EQUAL, _HAS_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
#: Places in what a filter sees: the number of the call, the machine, and its arguments.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16


def is_known(machine: str) -> bool:
    """Whether the system calls of a machine are known."""
    return machine in _MACHINES


def filter_of(machine: str, process: int, *, tools: bool = False, starts: bool = False) -> bytes:
    """Return the filter for a process, which may send signals to itself alone.

    `tools`: it may become another program, and change the files that Landlock leaves it; `starts`: it may start others.
    """
    calls = _calls(machine, process, tools=tools, starts=starts)
    return b"".join((*_beginning(machine), *calls, _returning(_FAIL | errno.EPERM)))


def _beginning(machine: str) -> Iterator[bytes]:
    """End a process that makes calls of another machine, as those of 32 bits: their numbers differ."""
    yield _instruction(_LOAD, _MACHINE)
    yield _instruction(_EQUAL, _MACHINES[machine], 1, 0)
    yield _returning(_KILL_PROCESS)
    yield _instruction(_LOAD, _NUMBER)


def _calls(machine: str, process: int, *, tools: bool, starts: bool) -> Iterator[bytes]:
    column = list(_MACHINES).index(machine)
    refused = _returning(_FAIL | errno.EPERM)
    listed = (_ALLOWED, *([_OF_TOOLS] if tools else []), *([_STARTING] if starts else []))
    for call in ";".join(listed).split(";"):
        number = call.split()[1 + column]
        if number != "-":
            yield from _call(int(number), _returning(_ALLOW))
    itself = (_argument(0), _instruction(_EQUAL, process, 0, 1), _returning(_ALLOW), refused)
    yield from _call(_KILL[column], *itself)
    yield from _call(_TGKILL[column], *itself)
    is_thread = (_instruction(_HAS_BIT, _CLONE_THREAD, 0, 1), _returning(_ALLOW), refused)
    is_process = (_instruction(_HAS_BIT, _CLONE_NAMESPACES, 1, 0), _returning(_ALLOW), refused)
    yield from _call(_CLONE[column], _argument(0), *(is_process if starts else is_thread))
    # Its arguments are in memory, which a filter cannot see. Without it, libraries use clone.
    yield from _call(_CLONE3[column], _returning(_FAIL | errno.ENOSYS))
    owners = (_instruction(_EQUAL, _F_SETOWN, 2, 0), _instruction(_EQUAL, _F_SETOWN_EX, 1, 0))
    yield from _call(_FCNTL[column], _argument(1), *owners, _returning(_ALLOW), refused)
    # Limits may be read: the pointer to new ones is null.
    upper_half = (_instruction(_LOAD, _ARGUMENTS + 8 * 2 + 4), _instruction(_EQUAL, 0, 0, 1))
    is_null = (_argument(2), _instruction(_EQUAL, 0, 0, 3), *upper_half)
    yield from _call(_PRLIMIT[column], *is_null, _returning(_ALLOW), refused)
    if tools:  # to read two pipes at once
        no_wait = (_instruction(_EQUAL, _FIONBIO, 0, 1), _returning(_ALLOW))
        yield from _call(_IOCTL[column], _argument(1), *no_wait, _returning(_FAIL | errno.ENOTTY))
    # As of a file that is no terminal.
    yield from _call(_IOCTL[column], _returning(_FAIL | errno.ENOTTY))


def _call(number: int, *decision: bytes) -> Iterator[bytes]:
    """The decision on a call; other calls skip it."""
    yield _instruction(_EQUAL, number, 0, len(decision))
    yield from decision


def _argument(index: int) -> bytes:
    """Load the lower half of an argument."""
    return _instruction(_LOAD, _ARGUMENTS + 8 * index)


def _returning(value: int) -> bytes:
    return _instruction(_RETURN, value)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction; a comparison skips as many of the next ones as it says."""
    return struct.pack("HBBI", code, if_true, if_false, value)
