"""Programs that a model wrote, run where they reach no file, no network and no other process.

`pool` runs them, several at once; `server` is the process that starts each; `confinement` and `seccomp` take its rights
away; `escapes` are programs that must fail before any other is run.
"""
