// A library with thread-local storage, for the program in Scan.
static __thread void *kept;

void keep_in_thread(void *block) { kept = block; }
