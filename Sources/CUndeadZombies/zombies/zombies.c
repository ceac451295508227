#include "zombies/zombies.h"
#include "platform/memory/own_data.h"
#include "platform/system/control_group.h"
#include "undead_sniffer.h"
#include "record/block_source.h"
#include "record/allocator.h"
#include "record/attached.h"
#include "record/free_filter.h"
#include "record/mode.h"
#include "runtime/layout.h"
#include "zombies/kept/death.h"
#include "zombies/fault.h"
#include "zombies/catch/stubs_x86_64.h"
#include "zombies/catch/escape.h"
#include "zombies/catch/watching_x86_64.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/chosen.h"
#include "zombies/kept/closed_pages.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/reports/log.h"
#include "zombies/kept/object_source.h"
#include "zombies/premises.h"
#include "zombies/kept/quarantine.h"
#include "zombies/reports/report.h"
#include "zombies/shared/settings.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include "zombies/classes/type_lists.h"
#include "zombies/reports/waiting.h"
#include "zombies/classes/zombie_class.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static bool replaces_functions;
static undead_bounded_lock lock;   // of starting and stopping
static const char *reason = "zombies are not kept: start the sniffer, or set UNDEAD_ZOMBIES=1";

enum { LOG_TRAPS = 1, LOG_GUARDS = 2, LOG_WITHOUT_FUNCTIONS = 4, LOG_SAMPLES = 8 };

bool undead_zombies_are_active(void) { return undead_zombies.active; }

const char *undead_zombie_inactive_reason(void) { return undead_zombies.active ? "" : reason; }

// The dead must not take the memory that the living need.
static undead_zombie_budget capped(const undead_zombie_budget *wanted) {
  undead_zombie_budget result = *wanted;
  uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
  uint64_t container = undead_group_memory_limit() / 2;
  struct rlimit space;
  if (container < most) most = container;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && space.rlim_cur / 4 < most)
    most = space.rlim_cur / 4;
  if (result.bytes > most) result.bytes = most;
  return result;
}

static void set_lists(const undead_zombie_options *options) {
  undead_type_list_set(UNDEAD_LIST_ALLOW, options->allow);
  undead_type_list_set(UNDEAD_LIST_DENY, options->deny);
  undead_type_list_set(UNDEAD_LIST_GUARD, options->guard_types);
  undead_zombie_classes_apply_lists();
}

static uint32_t log_flags(void) {
  return (undead_zombies.policy == UNDEAD_ZOMBIE_TRAP ? LOG_TRAPS : 0) | (undead_zombies.guard ? LOG_GUARDS : 0) |
         (undead_zombies.sample ? LOG_SAMPLES : undead_zombies.active && !replaces_functions ? LOG_WITHOUT_FUNCTIONS : 0);
}

// Without the runtime's own functions, deaths of objects that malloc handed out are seen by free().
static bool finds_a_way(void) {
  replaces_functions = undead_swift_functions_find();
  return replaces_functions || (undead_record_mode > UNDEAD_RECORD_OFF && undead_runtime_find());
}

// Where glibc has no memory for the program.
static bool make_room_for_program(size_t size) {
  enum { PROBABLE = 1 << 30 };   // bytes: more is refused for other reasons
  bool given = size < PROBABLE && undead_spare_mappings_give();
  return undead_quarantine_make_room(size) || given;
}

// Nothing of the quarantine: only the pool, and faults on its pages.
static bool start_sampled(const undead_zombie_options *options) {
  if (undead_allocator_is_other()) reason = "blocks of another allocator than glibc's are not sampled";
  else if (!undead_hooks_available) reason = "the program is built with a sanitizer, which replaces the allocator";
  else if (!undead_swift_functions_find() || !undead_object_source_learn())
    reason = "no Swift runtime was found that objects can be sampled of: it may be linked statically";
  else if (!undead_premises_let_zombies_start()) reason = "the classes of this Swift runtime are not as expected";
  else if (!undead_zombie_classes_prepare(&undead_stubs) || !undead_fenced_prepare((uint32_t)options->budget.count, 0))
    reason = "there is no memory for the pages of sampled objects";
  else return true;
  return false;
}

// What runs already goes on as it began.
static bool start_sampled_locked(const undead_zombie_options *options) {
  if (!undead_zombies.active && !start_sampled(options)) return false;
  set_lists(options);
  undead_zombies.policy = options->policy;
  undead_zombies.repeats = options->repeats;
  undead_zombies_set_handler(options->handler, options->context);
  if (!undead_zombies.active) {
    undead_zombies.sample = options->sample;
    undead_fault_handlers_install();
    undead_swift_functions_watch(&undead_watching_escapes);
    undead_swift_functions_step_aside();
    undead_zombies.active = true;
    undead_chosen_begin(options->sample, !undead_type_list_is_empty(UNDEAD_LIST_GUARD));
  }
  undead_zombie_log_set_flags(log_flags());
  return true;
}

bool undead_zombies_attach(void) {
  const undead_swift_function end = UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE;
  undead_replacement replacement;
  replacement.replacement = undead_swift_function_to_call(end, &replacement.name);
  replacement.function = undead_swift_real[end];
  return !replacement.replacement || undead_attach_others(&replacement, 1);
}

static bool start_locked(const undead_zombie_options *options) {
  if (undead_zombies.active ? undead_zombies.sample : options->sample) return start_sampled_locked(options);
  if (!undead_zombies.active) {
    if (undead_record_mode == UNDEAD_RECORD_SAMPLED) {
      reason = "only a sample of the allocations is recorded";
      return false;
    }
    if (!finds_a_way()) {
      reason = "no Swift runtime was found";
      return false;
    }
    if (!undead_premises_let_zombies_start()) {
      reason = "the classes of this Swift runtime are not as expected";
      return false;
    }
    if (!undead_zombie_classes_prepare(&undead_stubs)) {
      reason = "there is no memory for the classes of dead objects";
      return false;
    }
    undead_zombies.guard = options->guard && replaces_functions && undead_guard_prepare() && undead_object_source_learn();
  }
  undead_zombie_budget budget = capped(&options->budget);
  undead_quarantine_set_budget(&budget);
  set_lists(options);
  undead_zombies.policy = options->policy;
  undead_zombies.repeats = options->repeats;
  undead_zombies_set_handler(options->handler, options->context);
  if (undead_zombies.active) {
    undead_zombie_log_set_flags(log_flags());
    return true;
  }
  bool storage = replaces_functions && !undead_allocator_is_other() && undead_object_source_learn() &&
                 undead_fenced_prepare(UNDEAD_FENCED_STORAGE_DEAD, UNDEAD_FENCED_STORAGE_SLOTS);
  undead_fault_handlers_install();
  undead_zombies.active = true;
  if (replaces_functions) undead_swift_functions_watch(&undead_watching);
  undead_free_filter_keep(replaces_functions ? undead_zombie_filter_unseen : undead_zombie_filter_all);
  undead_free_kept = make_room_for_program;
  if (undead_zombies.guard) undead_block_source_set(undead_object_source);
  if (storage) undead_chosen_begin_with_storage();
  return true;
}

bool undead_zombies_turn_on(const undead_zombie_options *options) {
  int saved = errno;
  bool started = undead_lock_take(&lock);
  if (started) {
    started = start_locked(options);
    undead_lock_release(&lock);
  }
  errno = saved;
  return started;
}

void undead_zombies_stop(void) {
  int saved = errno;
  if (!undead_lock_take(&lock)) return;
  if (undead_zombies.active && undead_zombies.sample) {
    undead_zombies.active = false;   // no page is taken away any more
    undead_chosen_end();
    undead_zombies.sample = 0;
    reason = "the sniffer was stopped";
  } else if (undead_zombies.active) {
    if (replaces_functions) undead_swift_functions_watch(NULL);
    undead_block_source_set(NULL);
    // The filter stays for live objects on guard pages.
    undead_free_filter_keep(undead_guard_bytes ? undead_zombie_filter_guarded : NULL);
    undead_zombies.active = false;
    undead_chosen_end();
    reason = "the sniffer was stopped";
    undead_free_kept = NULL;
    undead_quarantine_empty();
  }
  undead_lock_release(&lock);
  errno = saved;
}

bool undead_zombies_have_pool(void) { return undead_chosen_blocks.bytes != 0; }

void undead_zombies_each_sampled(void (*see)(uintptr_t block, uintptr_t twin)) { undead_fenced_each(see); }

void undead_zombies_keep_pages(void) {
  if (undead_free_keeper) undead_free_filter_keep(undead_zombie_filter_kept);
}

void undead_zombies_resize(const undead_zombie_budget *budget) {
  int saved = errno;
  undead_zombie_budget possible = capped(budget);
  undead_quarantine_set_budget(&possible);
  errno = saved;
}

static bool add_to_list(undead_type_list list, const char *types) {
  int saved = errno;
  bool added = undead_lock_take(&lock);
  if (added) {
    added = undead_type_list_add(list, types);
    undead_zombie_classes_apply_lists();
    undead_lock_release(&lock);
  }
  errno = saved;
  return added;
}

bool undead_zombies_allow(const char *types) { return add_to_list(UNDEAD_LIST_ALLOW, types); }
bool undead_zombies_deny(const char *types) { return add_to_list(UNDEAD_LIST_DENY, types); }

void undead_zombies_set_policy(undead_zombie_policy policy, uint32_t repeats) {
  undead_zombies.policy = policy;
  undead_zombies.repeats = repeats;
  undead_zombie_log_set_flags(log_flags());
}

void undead_zombies_set_handler(undead_zombie_handler handler, void *context) {
  // A zombie in between meets no handler, never the new one with the context of the old.
  __atomic_store_n(&undead_zombies.handler, NULL, __ATOMIC_RELEASE);
  __atomic_store_n(&undead_zombies.context, context, __ATOMIC_RELEASE);
  __atomic_store_n(&undead_zombies.handler, handler, __ATOMIC_RELEASE);
}

__attribute__((noinline)) bool undead_zombie_report(
    undead_zombie_kind kind, const void *object, const char *type, uintptr_t function) {
  const uintptr_t *frame = __builtin_frame_address(0);
  undead_dead dead;
  bool is_dead = undead_zombies.active && undead_quarantine_find((uintptr_t)object, &dead);
  undead_zombie_use use = {
      .kind = kind,
      .field_offset = UNDEAD_ZOMBIE_NO_FIELD,
      .object = (uintptr_t)object,
      .implementation = function,
      .class = is_dead ? dead.class : NULL,
      .type = type,
      .pc = frame[1],
      .sp = (uintptr_t)(frame + 2),
      .bp = frame[0],
      .dead = is_dead ? &dead : NULL,
  };
  if (undead_zombies.active) undead_zombie_used(&use, false);
  return is_dead;
}

bool undead_zombie_is_dead(const void *object) {
  undead_dead dead;
  return undead_zombies.active && undead_quarantine_find((uintptr_t)object, &dead);
}

void undead_zombies_begin(const char *directory, uint32_t generation, bool (*start)(const undead_zombie_options *)) {
  undead_zombie_options options;
  if (!undead_zombie_options_of_environment(&options)) return;
  int saved = errno;
  undead_zombie_log_set_place(directory, generation, 0);
  start(&options);
  undead_zombie_log_begin();
  undead_zombie_log_set_flags(log_flags());
  errno = saved;
}

void undead_zombies_before_fork(void) {
  if (!undead_zombies.active) return;
  undead_zombie_classes_before_fork();
  undead_quarantine_before_fork();
  undead_guard_before_fork();
  undead_fenced_before_fork();
}

void undead_zombies_after_fork_in_parent(void) {
  if (!undead_zombies.active) return;
  undead_fenced_after_fork();
  undead_guard_after_fork();
  undead_quarantine_after_fork();
  undead_zombie_classes_after_fork();
}

void undead_zombies_after_fork_in_child(void) {
  undead_zombies_after_fork_in_parent();
  undead_threads_after_fork_in_child();
  undead_zombies.dying = false;
  if (undead_zombies.active) undead_zombie_waiting_after_fork_in_child();
  if (undead_zombies.active) undead_chosen_after_fork_in_child();
}

void undead_zombies_adopt_child(uint32_t generation) {
  if (undead_zombies.active) undead_zombie_log_after_fork_in_child(generation);
}

void undead_zombies_settle(void) { undead_zombie_settle(false, false); }

bool undead_zombies_note_end(void) {
  undead_zombie_counters counters;
  if (!undead_zombies.active) return false;
  bool any = undead_zombie_settle(true, false);
  undead_zombies_read_counters(&counters);
  undead_zombie_log_counters(&counters);
  return any && undead_zombies.policy == UNDEAD_ZOMBIE_TRAP;
}

void undead_zombies_trap(void) {
  undead_zombie_log_signal(SIGILL);
  undead_zombies.dying = true;
  __builtin_trap();
}
