// Files may not grow: the program must not die of SIGXFSZ that it did not cause.
// EXPECT any
// SHELL (ulimit -f 8; $RUN) | cat
print("limited")
