#include "platform/memory/thread_state.h"
#include "platform/memory/own_data.h"

__thread undead_thread_state undead_thread __attribute__((tls_model("initial-exec")));

undead_thread_state *undead_thread_of(uintptr_t thread_pointer) {
  uintptr_t own = (uintptr_t)__builtin_thread_pointer();
  return (undead_thread_state *)(thread_pointer + ((uintptr_t)&undead_thread - own));
}
