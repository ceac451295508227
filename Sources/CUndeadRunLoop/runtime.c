#include "CUndeadRunLoop.h"

// Exported by libswiftCore (stdlib/public/SwiftShims/RefCount.h, HeapObject.cpp), C calling convention.
extern void *swift_tryRetain(void *object);
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);

// Exported by libdispatch for CoreFoundation (dispatch/private.h).
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

void undead_loop_unowned_retain(void *object) { swift_unownedRetain(object); }

void undead_loop_unowned_release(void *object) { swift_unownedRelease(object); }

bool undead_loop_try_retain(void *object) { return swift_tryRetain(object) != 0; }

int undead_loop_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void undead_loop_main_queue_drain(void) { _dispatch_main_queue_callback_4CF(0); }
