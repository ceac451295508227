// A signal handler may leave by siglongjmp, an exception or the end of its thread, and what it interrupted is never
// finished: a hook, too. Nothing shows this; so where it matters, the stack is asked whether the hook is still on it.
#pragma once
#include "platform/memory/thread_state.h"
#include "unwind/walk_x86_64.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// True if the function whose frame pointer is `function` is still one of those that `at` was called from. In doubt true.
// It must be one of those that see gate.h.
// For threads that stand still, also from a process that shares the memory; async-signal-safe.
bool undead_is_under_way(undead_thread_state *thread, uintptr_t function, undead_frame at);

// True if the thread is inside of a hook, judged likewise by where it stands.
bool undead_hook_is_under_way(undead_thread_state *thread, undead_frame at);

// The same for the calling thread, which forgets what it did in a hook that is no more. `at` must not lie in a hook.
bool undead_hook_settle(undead_frame at);

// Called where a hook is entered while one was not left: forgets that one if it is no more.
void undead_hook_enter_again(const uintptr_t *frame);

// True if `address` lies in the calling thread's stack, the one that it was made with.
bool undead_is_on_own_stack(uintptr_t address);

#pragma GCC visibility pop
