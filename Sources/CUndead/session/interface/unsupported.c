// Stands for the whole instrument where it is not compiled: what Swift code calls, with nothing behind it. Standard C only.
#include "undead_supported.h"
#if !UNDEAD_SUPPORTED
#include "undead.h"
#include "undead_assertions.h"
#include "undead_backtraces.h"
#include "undead_facts.h"
#include "undead_generations.h"
#include "undead_heap.h"
#include "undead_run_loops.h"
#include "undead_zombies.h"

static const char reason[] =
#ifdef UNDEAD_WITHOUT_INSTRUMENT
    "this program was built with UNDEAD_WITHOUT_INSTRUMENT=1, as for a platform that leaks cannot be found on";
#else
    "leaks can be found on Linux with glibc on x86-64 only, and this program was built for another platform";
#endif

static bool refuse(char *message, size_t size) {
  for (size_t i = 0; message && i < size; i++) {
    message[i] = i + 1 < size && i < sizeof reason ? reason[i] : 0;
    if (message[i] == 0) break;
  }
  return false;
}

// Recording and what comes of it

const char *undead_version(void) { return UNDEAD_VERSION; }
bool undead_is_active(void) { return false; }
const char *undead_inactive_reason(void) { return reason; }
bool undead_start(void) { return false; }
bool undead_start_sampled(uint64_t mean_bytes) { return (void)mean_bytes, false; }
void undead_stop(void) {}
bool undead_is_forked_copy(void) { return false; }
bool undead_snapshot_write(const char *path, char *message, size_t size) { return (void)path, refuse(message, size); }
bool undead_snapshot_copy(void **bytes, size_t *size, char *message, size_t message_size) {
  *bytes = NULL;
  *size = 0;
  return refuse(message, message_size);
}
void undead_snapshot_release(void *bytes, size_t size) { (void)bytes, (void)size; }
bool undead_heap_write(const char *path, char *message, size_t size) { return (void)path, refuse(message, size); }
uint32_t undead_mark_generation(const char *name) { return (void)name, 0; }
undead_census_entry *undead_census_take(const uint32_t *scopes, uint32_t scope_count, size_t *count, char *message,
                                        size_t size) {
  (void)scopes, (void)scope_count;
  *count = 0;
  refuse(message, size);
  return NULL;
}
void undead_census_release(undead_census_entry *entries) { (void)entries; }

// Scopes

void undead_scopes_use_task_local(const void *key) { (void)key; }
uint32_t undead_scope_open(void) { return 0; }
void undead_scope_close(uint32_t scope) { (void)scope; }
uint32_t undead_scope_of_block(const void *block) { return (void)block, 0; }
uint32_t undead_scope_mark(void) { return 0; }
void undead_scopes_set_outside(uint32_t mark) { (void)mark; }
void undead_scopes_leave(void) {}
void undead_scopes_return(void) {}
bool undead_scope_push(uint32_t scope, const void *uint32_type) { return (void)scope, (void)uint32_type, false; }
void undead_scope_pop(void) {}
void undead_scope_avoid_task(void) {}
void undead_avoid_dangling(void) {}
bool undead_scope_has_survivors(uint32_t scope, uint32_t mark) {
  return (void)scope, (void)mark, false;
}
bool undead_scope_may_have_leaks(uint32_t scope, uint32_t mark, const void *holder) {
  return (void)scope, (void)mark, (void)holder, false;
}
uint32_t undead_left_work_since(uint32_t mark, undead_left_work *list, uint32_t max) { return (void)mark, (void)list, (void)max, 0; }
bool undead_left_module_of(uintptr_t address, undead_left_module *module) { return (void)address, (void)module, false; }
bool undead_left_thread(int32_t tid, undead_left_work *work) { return (void)tid, (void)work, false; }
uint32_t undead_scopes_held_by_threads(uint32_t *scopes, uint32_t max) { return (void)scopes, (void)max, 0; }

// Calls that leave no trace, where nobody looks for one

void undead_call_deeper(void (*function)(void *), void *context) { function(context); }
void undead_clear_stack(void) {}
void *undead_task_leave_room(void) { return NULL; }
void undead_task_take_room(void *room) { (void)room; }
bool undead_call_on_thread(void (*function)(void *), void *context) { return (void)function, (void)context, false; }
void undead_lock_checks(void) {}
void undead_unlock_checks(void) {}

// Objects and backtraces. Swift code watches objects by weak references instead.

void undead_object_hold(const void *object) { (void)object; }
void undead_object_let_go(const void *object) { (void)object; }
bool undead_object_is_alive(const void *object) { return (void)object, false; }
bool undead_closure_knows_only_dead(const void *context, char *type, size_t size) {
  return (void)context, (void)type, (void)size, false;
}
uint32_t undead_exact_backtrace(uintptr_t *frames, uint32_t max) { return (void)frames, (void)max, 0; }
uint32_t undead_allocation_backtrace(const void *block, uintptr_t *frames, uint32_t max) {
  return (void)block, (void)frames, (void)max, 0;
}
uint32_t undead_caller_backtrace(uintptr_t *frames, uint32_t max) { return (void)frames, (void)max, 0; }
uint32_t undead_thread_backtrace(int32_t tid, uintptr_t *frames, uint32_t max) {
  return (void)tid, (void)frames, (void)max, 0;
}

// Facts, which nobody asks for

bool undead_facts_are_last(void) { return false; }
bool undead_add_facts_source(undead_facts_source source, void *context) { return (void)source, (void)context, false; }
void undead_facts_add_watched(undead_facts *facts, const undead_watched_object *watched) { (void)facts, (void)watched; }
void undead_facts_add_candidate(undead_facts *facts, const void *object, uintptr_t isa, const char *scope) {
  (void)facts, (void)object, (void)isa, (void)scope;
}
void undead_facts_add_run_loop_item(undead_facts *facts, const undead_run_loop_item *item) { (void)facts, (void)item; }
void undead_facts_add_diagnostic(undead_facts *facts, const undead_diagnostic *entry) { (void)facts, (void)entry; }
void undead_facts_set_run_loops(undead_facts *facts, const char *json) { (void)facts, (void)json; }
void undead_facts_add_note(undead_facts *facts, const char *note) { (void)facts, (void)note; }

// Run loops work without the instrument, and a thread that waits runs them all the same.

static undead_run_loop_runner runner;

void undead_set_run_loop_runner(undead_run_loop_runner new) { __atomic_store_n(&runner, new, __ATOMIC_RELEASE); }
bool undead_run_current_loop(int64_t nanoseconds) {
  undead_run_loop_runner found = __atomic_load_n(&runner, __ATOMIC_ACQUIRE);
  return found && found(nanoseconds);
}

// Zombies

void undead_zombie_default_options(undead_zombie_options *options) {
  *options = (undead_zombie_options){.allow = "", .deny = "", .guard_types = ""};
}
void undead_zombie_sampled_options(undead_zombie_options *options, uint32_t sample) {
  undead_zombie_default_options(options);
  options->sample = sample;
}
void undead_zombies_wait(uint32_t milliseconds) { (void)milliseconds; }
bool undead_zombies_start(const undead_zombie_options *options) { return (void)options, false; }
void undead_zombies_stop(void) {}
bool undead_zombies_are_active(void) { return false; }
const char *undead_zombie_inactive_reason(void) { return reason; }
void undead_zombies_resize(const undead_zombie_budget *budget) { (void)budget; }
bool undead_zombies_allow(const char *types) { return (void)types, false; }
bool undead_zombies_deny(const char *types) { return (void)types, false; }
void undead_zombies_set_policy(undead_zombie_policy policy, uint32_t repeats) { (void)policy, (void)repeats; }
void undead_zombies_set_handler(undead_zombie_handler handler, void *context) { (void)handler, (void)context; }
void undead_zombies_settle(void) {}
void undead_zombies_read_counters(undead_zombie_counters *counters) { *counters = (undead_zombie_counters){0}; }
bool undead_zombie_report(undead_zombie_kind kind, const void *object, const char *type, uintptr_t function) {
  return (void)kind, (void)object, (void)type, (void)function, false;
}
size_t undead_zombies_copy_log(void *to, size_t room) { return (void)to, (void)room, 0; }
bool undead_zombie_is_dead(const void *object) { return (void)object, false; }
#endif
