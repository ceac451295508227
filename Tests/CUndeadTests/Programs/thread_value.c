// A library with thread-local storage, for scan_program.c.
static __thread void *kept;

void keep_in_thread(void *block) { kept = block; }
