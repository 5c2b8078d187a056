"""Languages of programs: how each is compiled and run, by the names that MultiPL-E gives them.

A program in one of them is a file, which commands compile and run. It passes if it reaches its last line: a statement
there prints a secret word. It follows the program, or precedes the end of its main function, which the tests close.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Options of Java, which else writes to a shared folder, and takes threads and memory by the size of the machine.
_JAVA = "-XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CICompilerCount=1 -Xmx{megabytes}m"
_JAVAC = " ".join(f"-J{option}" for option in _JAVA.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgrammingLanguage:
    """A language other than Python.

    `file`: the name of a program's file. `compile` and `run`: the words of commands, in the folder of the file; the
    first word is looked for on the PATH. `{megabytes}` is the limit of memory. `last`: the statement that prints the
    word `{}`. `end`: a pattern of what follows that statement at the end of a program. `runtime`: megabytes that the
    compiler or the runtime needs beside the program. `starts`: its programs start processes, as those of shells do.
    `empty`: a program that does nothing, behind its imports.
    """

    title: str
    file: str
    run: str
    last: str
    compile: str = ""
    end: str = r"\Z"
    runtime: int = 0
    starts: bool = False
    empty: str = ""

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands, the last of which runs the program."""
        return (self.compile, self.run) if self.compile else (self.run,)


_CLOSED = r"(?:\s*return 0;)?\s*\}\s*\Z"
#: The language of programs that name none; the sandbox runs them itself.
PYTHON = "python"
LANGUAGES: Mapping[str, ProgrammingLanguage] = {
    "cpp": ProgrammingLanguage(
        title="C++",
        file="program.cpp",
        compile="g++ -std=c++17 -include cstdio -include iostream program.cpp -o program",
        run="./program",
        last='\nstd::fflush(stdout); std::cout << "{}" << std::flush;',
        end=_CLOSED,
        runtime=1024,
        empty="int main() {\n}",
    ),
    "java": ProgrammingLanguage(
        title="Java",
        file="Problem.java",
        compile=f"javac {_JAVAC} -encoding UTF-8 -d . Problem.java",
        run=f"java {_JAVA} -ea Problem",
        last='\nSystem.out.print("{}"); System.out.flush();',
        end=r"\s*\}\s*\}\s*\Z",
        runtime=1024,
        empty="class Problem {\npublic static void main(String[] arguments) {\n}\n}",
    ),
    "js": ProgrammingLanguage(
        title="JavaScript",
        file="program.js",
        run="node --max-old-space-size={megabytes} program.js",
        last='\nprocess.stdout.write("{}");',
        runtime=1024,
    ),
    "php": ProgrammingLanguage(
        title="PHP", file="program.php", run="php program.php", last='\necho "{}";', runtime=256, empty="<?php"
    ),
    "pl": ProgrammingLanguage(title="Perl", file="program.pl", run="perl program.pl", last='\nprint "{}";'),
    "rs": ProgrammingLanguage(
        title="Rust",
        file="program.rs",
        compile="rustc program.rs -o program",
        run="./program",
        last='\nprint!("{}");',
        end=_CLOSED,
        runtime=1024,
        empty="fn main() {\n}",
    ),
    "sh": ProgrammingLanguage(
        title="Bash", file="program.sh", run="bash program.sh", last="\nprintf %s {}", starts=True
    ),
}
