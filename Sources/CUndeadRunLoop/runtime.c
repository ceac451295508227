#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
#include "CUndeadRunLoop.h"

// Exported by libswiftCore (stdlib/public/SwiftShims/RefCount.h, HeapObject.cpp), C calling convention.
extern void *swift_tryRetain(void *object);

// Exported by libdispatch for CoreFoundation (dispatch/private.h).
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

bool undead_loop_try_retain(void *object) { return swift_tryRetain(object) != 0; }

int undead_loop_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void undead_loop_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(0); }
#endif
