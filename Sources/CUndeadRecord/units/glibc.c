#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "glibc/caches.c"
#include "glibc/heap.c"
#include "glibc/lists.c"
#include "glibc/mapped.c"
#include "glibc/notes.c"
#include "glibc/ring.c"
#include "glibc/walk.c"
#endif
