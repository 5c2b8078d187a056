"""Programs in other languages than Python, by language: right ones, and those that must not pass.

`{folder}` has the file secret.txt; a server listens at `{port}`. `ESCAPES` pass if they get out, so that they pass
without a sandbox.
"""

# ruff: noqa: E501 - a program a line
from __future__ import annotations

#: A function as MultiPL-E has it, its last lines open, and its tests, which close them.
BEGINNINGS = {
    "cpp": "#include<assert.h>\n#include<bits/stdc++.h>\nlong twice(long x) {\n",
    "java": "import java.util.*;\nclass Problem {\n    public static long twice(long x) {\n",
    "js": "function twice(x){\n",
    "php": "<?php\nfunction twice($x) {\n",
    "pl": "sub twice {\n    my($x) = @_;\n",
    "rs": "fn twice(x: isize) -> isize {\n",
    "sh": "#!/bin/bash\ntwice() {\n",
}
TESTS = {
    "cpp": "}\nint main() {\n    auto candidate = twice;\n    assert(candidate((4)) == (8));\n}\n",
    "java": "    }\n    public static void main(String[] args) {\n    assert(twice((4l)) == (8l));\n    }\n\n}\n",
    "js": "const assert = require('node:assert');\n\nfunction test() {\n  assert.deepEqual(twice(4),8);\n}\n\ntest();",
    "php": "function test(): void {\n    if (twice(4) !== 8) { throw new Exception('Test failed!'); }\n}\n\ntest();",
    "pl": "sub test {\n    if(twice(4) == 8) { print 'ok!' } else { exit 1; }\n}\n\ntest();",
    "rs": "}\n\nfn main() {\n    assert_eq!(twice(4), 8);\n}\n",
    "sh": '}\n\ncandidate() {\n    twice "$@"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate "4") = "8" ]]\n}\n\nrun_test',
}
RIGHT = {
    "cpp": "    return 2 * x;\n",
    "java": "        return 2 * x;\n",
    "js": "  return 2 * x;\n}\n",
    "php": "    return 2 * $x;\n}\n",
    "pl": "    return 2 * $x;\n}\n",
    "rs": "    2 * x\n",
    "sh": "    echo $(($1 * 2)) | cat\n",
}
WRONG = {language: body.replace("2", "3") for language, body in RIGHT.items()}
#: What no compiler or interpreter can read.
BROKEN = {language: f"((\n{body}" for language, body in RIGHT.items()}
ENDLESS = {
    "cpp": "    for (volatile long i = 0;; i++) {}\n",
    "java": "        while (true) {}\n",
    "js": "  while (true) {}\n}\n",
    "php": "    while (true) {}\n}\n",
    "pl": "    while (1) {}\n}\n",
    "rs": "    loop {}\n",
    "sh": "    while true; do :; done\n",
}
#: Programs that end well before their tests.
EARLY = {
    "cpp": "    std::exit(0);\n",
    "java": "        System.exit(0); return 0;\n",
    "js": "  process.exit(0);\n}\n",
    "php": "    exit(0);\n}\n",
    "pl": "    exit 0;\n}\n",
    "rs": "    std::process::exit(0)\n",
    "sh": "    echo\n}\nexit 0\n{\n",
}
#: Programs that pass if they can start 300 processes or threads that last.
CROWDS = {
    "cpp": "    for (int i = 0; i < 300; i++) std::thread([] { sleep(4); }).detach();\n    return 2 * x;\n",
    "java": "        for (int i = 0; i < 300; i++) { Thread t = new Thread(() -> { try { Thread.sleep(4000); } catch (Exception e) {} }); t.setDaemon(true); t.start(); }\n        return 2 * x;\n",
    "js": "  for (let i = 0; i < 300; i++) if (!require('child_process').spawn('sleep', ['4']).pid) return 0;\n  return 2 * x;\n}\n",
    "php": "    for ($i = 0; $i < 300; $i++) { $pid = pcntl_fork(); if ($pid < 0) return 0; if (!$pid) { sleep(4); exit; } }\n    return 2 * $x;\n}\n",
    "pl": "    for (1 .. 300) { my $pid = fork(); return 0 unless defined $pid; if (!$pid) { sleep 4; exit; } }\n    return 2 * $x;\n}\n",
    "rs": '    for _ in 0..300 { if std::process::Command::new("sleep").arg("4").spawn().is_err() { return 0; } }\n    2 * x\n',
    "sh": "    for ((i = 0; i < 300; i++)); do sleep 4 & done 2> /dev/null; echo $(($1 * 2))\n",
}
_JAVA_READ = 'try { if (java.nio.file.Files.readString(java.nio.file.Path.of("{folder}/secret.txt")).isEmpty()) return 0; } catch (Exception e) { return 0; } return 2 * x;'
_JAVA_CONNECT = (
    'try { new java.net.Socket("127.0.0.1", {port}).close(); } catch (Exception e) { return 0; } return 2 * x;'
)
ESCAPES = {
    "cpp": {
        "read": '    std::ifstream file("{folder}/secret.txt"); std::string text; file >> text; return text == "secret" ? 2 * x : 0;\n',
        "include": '    const char* text =\n#include "{folder}/secret.h"\n    ; return text ? 2 * x : 0;\n',
        "write": '    std::ofstream file("{folder}/written.txt"); return file << "x" << std::flush ? 2 * x : 0;\n',
    },
    "java": {"read": f"        {_JAVA_READ}\n", "connect": f"        {_JAVA_CONNECT}\n"},
    "js": {
        "read": "  return require('fs').readFileSync('{folder}/secret.txt', 'utf8') == 'secret' ? 2 * x : 0;\n}\n",
        "write": "  require('fs').writeFileSync('{folder}/written.txt', 'x'); return 2 * x;\n}\n",
        "connect": "  require('child_process').execFileSync('bash', ['-c', ': > /dev/tcp/127.0.0.1/{port}']); return 2 * x;\n}\n",
        "signal": "  process.kill({process}, 0); return 2 * x;\n}\n",
    },
    "php": {"read": "    return file_get_contents('{folder}/secret.txt') ? 2 * $x : 0;\n}\n"},
    "pl": {
        "read": "    open(my $file, '<', '{folder}/secret.txt') or return 0;\n    return 2 * $x;\n}\n",
        "list": "    opendir(my $folder, '{folder}') or return 0;\n    return 2 * $x;\n}\n",
        "connect": "    require IO::Socket::INET;\n    return IO::Socket::INET->new('127.0.0.1:{port}') ? 2 * $x : 0;\n}\n",
        "signal": "    return kill(0, {process}) ? 2 * $x : 0;\n}\n",
    },
    "rs": {
        "read": '    if std::fs::read_to_string("{folder}/secret.txt").is_ok() { 2 * x } else { 0 }\n',
        "include": '    let text = include_str!("{folder}/secret.txt"); if text.len() > 0 { 2 * x } else { 0 }\n',
        "connect": '    if std::net::TcpStream::connect("127.0.0.1:{port}").is_ok() { 2 * x } else { 0 }\n',
    },
    "sh": {
        "read": "    [[ $(< {folder}/secret.txt) = secret ]] && echo $(($1 * 2))\n",
        "read by another program": "    cat {folder}/secret.txt > /dev/null && echo $(($1 * 2))\n",
        "read the users": "    cat /etc/passwd > /dev/null && echo $(($1 * 2))\n",
        "list": "    ls {folder} > /dev/null && echo $(($1 * 2))\n",
        "list processes": "    ls /proc > /dev/null && echo $(($1 * 2))\n",
        "write": "    echo x > {folder}/written.txt && echo $(($1 * 2))\n",
        "remove": "    rm {folder}/doomed.txt && echo $(($1 * 2))\n",
        "connect": "    : > /dev/tcp/127.0.0.1/{port} && echo $(($1 * 2))\n",
        "signal": "    kill -0 {process} && echo $(($1 * 2))\n",
        "leave the group": "    (setsid -w true) && echo $(($1 * 2))\n",
        "make namespaces": "    unshare --user true && echo $(($1 * 2))\n",
        "change its own text": "    echo >> $0 && echo $(($1 * 2))\n",
    },
}
#: Where a system cannot do it without a sandbox either.
SOMETIMES = {"make namespaces"}
