#include "world/images.h"
#include "platform/images/c_library.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/registers.h"
#include "platform/maps/segments.h"
#include "platform/processor/thread_storage.h"
#include "world/given.h"
#include "platform/system/text.h"
#include <pthread.h>
#include <string.h>

undead_images undead_image_facts;

// glibc 2.36; only used if `_thread_db_sizeof_pthread` is not there.
#define THREAD_DESCRIPTOR_BYTES 2304

static void add_interval(undead_interval *list, uint32_t *count, uintptr_t low, uintptr_t high) {
  if (*count < UNDEAD_MAX_SEGMENTS && low < high) list[(*count)++] = (undead_interval){low, high};
}

static int visit_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  undead_images *facts = &undead_image_facts;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
      add_interval(facts->writable, &facts->writable_count, start, start + segment->p_memsz);
  }
  uintptr_t low = info->dlpi_addr + undead_segments_of(info->dlpi_phdr, info->dlpi_phnum).low;
  if (facts->dispatch_image.low == low) facts->dispatch_tls_module = info->dlpi_tls_modid;
  // Blocks of static TLS lie at the same distance from the thread pointer in every thread.
  size_t storage = undead_static_storage_bytes(info, undead_thread_pointer());
  if (storage < (1u << 20) && storage > facts->static_tls_bytes) facts->static_tls_bytes = storage;
  return 0;
}

static bool is_named(const undead_module *module, const char *prefix) {
  return undead_starts_with(undead_file_name(module->path), prefix);
}

static void visit_module(const undead_module *module) {
  undead_images *facts = &undead_image_facts;
  undead_interval range = {module->low, module->high};
  if (is_named(module, "libc.so") || is_named(module, "libc-")) facts->libc = range;
  else if (is_named(module, "ld-linux")) facts->loader = range;
  else if (is_named(module, "libdispatch.")) facts->dispatch = range;
  else if (is_named(module, "libswift_Concurrency.")) facts->concurrency = range;
}

// glibc keeps {stack block, size} of a thread in its descriptor at an offset that it does not publish: find it in the
// calling thread's own, whose stack is known.
static size_t find_stack_field(size_t descriptor_bytes) {
  undead_thread_stack stack;
  if (undead_given()) return undead_given_stack_field(undead_image_facts.list_field, descriptor_bytes);
  if (!undead_own_stack(&stack)) return 0;
  const uintptr_t *word = (const uintptr_t *)undead_thread_pointer();
  for (size_t i = 64; i + 2 < descriptor_bytes / 8; i++)
    if (word[i] == stack.low - stack.guard && word[i + 1] == stack.size + stack.guard && word[i + 2] == stack.guard)
      return i * 8;
  return 0;
}

// The links in a list of stacks stand before the thread's id (nptl/descr.h).
static size_t find_list_field(size_t descriptor_bytes) {
  uintptr_t own = undead_thread_pointer();
  uint32_t tid = undead_given() ? (uint32_t)undead_given_own_tid() : (uint32_t)undead_raw3(SYS_gettid, 0, 0, 0);
  for (size_t i = 128; i + 4 < descriptor_bytes; i += 8) {
    if (*(const uint32_t *)(own + i) != tid) continue;
    uintptr_t node = own + i - 16, next = *(const uintptr_t *)node;
    if (next % 8 == 0 && undead_page_is_readable(next) && *(const uintptr_t *)(next + 8) == node) return i - 16;
  }
  return 0;
}

// The vtables lie together, one after the other.
static undead_interval dispatch_vtables(const undead_module *module) {
  static const char *const names[] = {"_dispatch_continuation_vtables", "__OS_dispatch_queue_global_vtable",
                                      "__OS_dispatch_queue_serial_vtable", "__OS_dispatch_source_vtable"};
  undead_interval all = {UINTPTR_MAX, 0};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t size = 0;
    uintptr_t low = undead_symbol_address(module, names[i], &size);
    if (low && low < all.low) all.low = low;
    if (low + size > all.high) all.high = low + size;
  }
  return all;
}

static void find_dispatch_parts(const undead_module *module) {
  static const char *const names[] = {"_dispatch_timers_heap", "_dispatch_sources", "_dispatch_root_queues",
                                      "_dispatch_mgr_q", "_dispatch_main_q"};
  undead_images *facts = &undead_image_facts;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t size = 0;
    uintptr_t low = undead_symbol_address(module, names[i], &size);
    if (low) facts->dispatch_parts[facts->dispatch_part_count++] = (undead_interval){low, low + size};
  }
  facts->dispatch_parts[facts->dispatch_part_count++] = dispatch_vtables(module);
}

// With -static-stdlib libdispatch is a part of the program.
static void find_dispatch(void) {
  undead_images *facts = &undead_image_facts;
  const undead_module *module = undead_module_of(facts->dispatch.low);
  if (!facts->dispatch.low) {
    module = undead_module_at(0);
    if (!undead_symbol_address(module, "_dispatch_worker_thread", NULL)) return;
    find_dispatch_parts(module);
  }
  facts->dispatch_image = (undead_interval){module->low, module->high};
  uintptr_t data = undead_symbol_address(module, "__dispatch_tsd", NULL);
  facts->dispatch_tls_offset = data ? data - module->bias : 0;
}

static void do_nothing(void) {}

static uintptr_t find_context_start(void) {
  static char stack[4096];
  ucontext_t context;
  if (getcontext(&context)) return 0;
  context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  context.uc_link = NULL;
  makecontext(&context, do_nothing, 0);
  uintptr_t start = undead_context_return(&context, (uintptr_t)stack, sizeof stack);
  memset(stack, 0, sizeof stack);
  return undead_is_libc_code(start) ? start : 0;
}

static void learn_thread_layout(void) {
  undead_images *facts = &undead_image_facts;
  if (!facts->context_start) facts->context_start = find_context_start();
  if (!facts->thread_descriptor_bytes) {
    facts->thread_descriptor_bytes = THREAD_DESCRIPTOR_BYTES;
    for (size_t i = 0; i < undead_module_count(); i++) {
      if (!is_named(undead_module_at(i), "libc.so") && !is_named(undead_module_at(i), "libc-")) continue;
      uintptr_t size = undead_symbol_address(undead_module_at(i), "_thread_db_sizeof_pthread", NULL);
      uint32_t value = size ? *(const uint32_t *)size : 0;
      if (value >= 0x400 && value < 0x4000) facts->thread_descriptor_bytes = value;
    }
  }
  if (!facts->list_field) facts->list_field = find_list_field(facts->thread_descriptor_bytes);
  if (!facts->stack_field) facts->stack_field = find_stack_field(facts->thread_descriptor_bytes);
}

bool undead_images_refresh(void) {
  undead_images *facts = &undead_image_facts;
  if (!facts->writable) facts->writable = undead_map(UNDEAD_MAX_SEGMENTS * sizeof *facts->writable);
  if (!facts->writable) return false;
  facts->writable_count = 0;
  facts->dispatch_tls_module = 0;
  facts->dispatch_part_count = 0;
  facts->dispatch = facts->dispatch_image = facts->concurrency = (undead_interval){0, 0};
  if (undead_module_count() == 0) undead_modules_refresh();
  for (size_t i = 0; i < undead_module_count(); i++) visit_module(undead_module_at(i));
  find_dispatch();
  dl_iterate_phdr(visit_image, NULL);
  learn_thread_layout();
  return true;
}

bool undead_images_map(void) {
  static uint32_t modules, maps;
  if (maps && modules == undead_modules_generation && maps == undead_maps_generation) return true;
  if (!undead_maps_refresh()) return false;
  modules = undead_modules_generation;
  maps = undead_maps_generation;
  return true;
}
