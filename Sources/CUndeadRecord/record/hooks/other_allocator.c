// The hooks over another allocator than glibc's. Blocks of it begin at multiples of 16 if they have that many bytes, and
// it says how many they have; nothing else is known.
#include "platform/images/imports.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "record/avoid.h"
#include "record/free_filter.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/hooks/other_functions.h"
#include "record/other_memory.h"
#include "record/way.h"
#include "platform/system/text.h"
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NOT_KNOWN = 1, OTHER = 2, NONE = 0 };
#define MOST_CLEARED ((size_t)1 << 20)
#define MOST_PUT_ASIDE 1000u

static const char *name = "", *refusal;
static const void *image_base;

extern void __libc_free(void *block);

// dladdr would look at each symbol of the image.
static const void *base_of(const void *function) {
  Dl_info info;
  undead_found_object found;
  undead_find_object_function find_object = undead_find_object();
  if (find_object) return function && find_object((void *)function, &found) == 0 ? found.map_start : NULL;
  return function && undead_find_address(function, &info) ? info.dli_fbase : NULL;
}

// MARK: What the allocator maps

static typeof(mmap) *real_mmap;
static typeof(munmap) *real_munmap;
// What tcmalloc calls in functions of these names that it has itself is not looked at: the program calls them, too.
static typeof(sbrk) *real_sbrk;

static void *seen_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void *mapped = real_mmap(address, bytes, protection, flags, file, offset);
  if (mapped != MAP_FAILED && file < 0) undead_other_memory_add((uintptr_t)mapped, bytes);
  return mapped;
}

static int seen_munmap(void *address, size_t bytes) {
  undead_other_memory_remove((uintptr_t)address, bytes);   // before it can be somebody else's
  return real_munmap(address, bytes);
}

// The pages at both ends may be the program's in part.
static void *seen_sbrk(intptr_t bytes) {
  const uintptr_t page = 4096;
  if (bytes < 0) undead_other_memory_remove((uintptr_t)real_sbrk(0) + (uintptr_t)bytes, (size_t)-bytes);
  void *old = real_sbrk(bytes);
  if (bytes <= 0 || old == (void *)-1) return old;
  uintptr_t low = ((uintptr_t)old + page - 1) & ~(page - 1), high = ((uintptr_t)old + (uintptr_t)bytes) & ~(page - 1);
  if (high > low) undead_other_memory_add(low, high - low);
  return old;
}

static void trace_mappings(const struct dl_phdr_info *image) {
  undead_import ends[] = {{"munmap", (uintptr_t)real_munmap, (uintptr_t)seen_munmap}};
  undead_import begins[] = {
      {"mmap", (uintptr_t)real_mmap, (uintptr_t)seen_mmap},
      {"mmap64", (uintptr_t)real_mmap, (uintptr_t)seen_mmap},
      {"sbrk", (uintptr_t)real_sbrk, (uintptr_t)seen_sbrk},
  };
  size_t seen_ends = undead_imports_change(image, ends, 1, false);
  if (undead_imports_change(image, begins, sizeof begins / sizeof *begins, false) && seen_ends)
    undead_other_memory_is_traced();
}

// MARK: Finding it

static int bind_image(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!undead_image_has(info, (uintptr_t)undead_next.malloc)) return 0;
  trace_mappings(info);
  undead_other_functions_bind(info);
  return 1;
}

// True if all of the allocator's functions are of one library.
static bool take_functions(void) {
  const struct { const char *name; void *place; bool needed; } wanted[] = {
      {"malloc", &undead_next.malloc, true}, {"calloc", &undead_next.calloc, true},
      {"realloc", &undead_next.realloc, true}, {"free", &undead_next.free, true},
      {"posix_memalign", &undead_next.posix_memalign, true}, {"malloc_usable_size", &undead_next.usable_size, false},
      {"aligned_alloc", &undead_next.aligned_alloc, false}, {"memalign", &undead_next.memalign, false},
  };
  bool complete = true;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *function = undead_symbol(RTLD_NEXT, wanted[i].name);
    if (base_of(function) == image_base) *(void **)wanted[i].place = function;
    else complete = complete && !wanted[i].needed;
  }
  if (!undead_next.usable_size) {
    // glibc's function would read what is no block of glibc's.
    refusal = "an allocator that does not tell how large its blocks are";
    undead_next.usable_size = malloc_usable_size;
  } else if (!complete) {
    refusal = "an allocator that leaves some of the functions of malloc to glibc";
  }
  return undead_next.malloc != NULL;
}

// glibc's functions have the same effect in terms of posix_memalign.
static void *memalign_instead(size_t alignment, size_t size) {
  void *block = NULL;
  int code = undead_next.posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, size);
  if (code) errno = code;
  return code ? NULL : block;
}

static void complete_functions(void) {
  if (!undead_next.memalign) undead_next.memalign = memalign_instead;
  if (!undead_next.aligned_alloc) undead_next.aligned_alloc = undead_next.memalign;
  if (!undead_next.calloc) undead_next.calloc = undead_symbol(RTLD_NEXT, "calloc");
  if (!undead_next.realloc) undead_next.realloc = undead_symbol(RTLD_NEXT, "realloc");
  if (!undead_next.free) undead_next.free = undead_symbol(RTLD_NEXT, "free");
  if (!undead_next.posix_memalign) undead_next.posix_memalign = undead_symbol(RTLD_NEXT, "posix_memalign");
}

// A copy of the recorder comes next where one is preloaded and another one linked into the program or its libraries.
static const undead_allocator *below_next_copy(void) {
  const undead_allocator *(*below)(void) = (const undead_allocator *(*)(void))undead_symbol(RTLD_NEXT, "undead_allocator_below");
  return below ? below() : NULL;
}

__attribute__((visibility("default"))) const undead_allocator *undead_allocator_below(void) {
  return undead_allocator_is_other() ? &undead_next : NULL;
}

static int is_image_of_recorder(struct dl_phdr_info *info, size_t size, void *function) {
  (void)size;
  if (!undead_image_has(info, (uintptr_t)function)) return 0;
  return undead_image_defines(info, "undead_allocator_below") ? 1 : -1;
}

// Any copy of the recorder, whatever the library is called: one of the program's own may have it in it. A failing dlsym
// would allocate.
static bool is_recorder(void *function) { return dl_iterate_phdr(is_image_of_recorder, function) == 1; }

static int32_t find(void) {
  void *next = undead_symbol(RTLD_NEXT, "malloc");
  const void *base = base_of(next);
  if (!base || base == base_of(gnu_get_libc_version)) return NONE;
  const undead_allocator *below = is_recorder(next) ? below_next_copy() : NULL;
  if (!below && is_recorder(next)) return NONE;
  image_base = below ? base_of(below->malloc) : base;
  if (below) next = below->malloc;
  Dl_info info;
  if (undead_find_address(next, &info) && info.dli_fname) name = info.dli_fname;
  if (below) undead_next = *below;
  else take_functions();
  complete_functions();
  real_mmap = undead_symbol(RTLD_DEFAULT, "mmap");
  real_munmap = undead_symbol(RTLD_DEFAULT, "munmap");
  real_sbrk = undead_symbol(RTLD_DEFAULT, "sbrk");
  if (refusal) return OTHER;
  // Not a library of the program's that has an allocator in it.
  const char *file = undead_file_name(name);
  if (undead_starts_with(file, "libjemalloc") || undead_starts_with(file, "libmimalloc") || undead_starts_with(file, "libtcmalloc"))
    undead_other_memory_set_image(image_base);
  dl_iterate_phdr(bind_image, NULL);
  return OTHER;
}

bool undead_allocator_is_other(void) {
  if (undead_allocator_detour == NOT_KNOWN) {
    int saved = errno;
    int32_t found = find();
    __atomic_store_n(&undead_allocator_detour, found, __ATOMIC_RELEASE);
    undead_way_choose();
    errno = saved;
  }
  return undead_allocator_detour == OTHER;
}

const char *undead_allocator_refusal(void) {
  if (!undead_allocator_is_other()) return NULL;
  return refusal ? refusal : undead_other_functions_unsound();
}

const char *undead_allocator_name(void) { return undead_allocator_is_other() ? name : ""; }

const char *undead_allocator_gap(void) {
  if (!undead_allocator_is_other() || undead_other_memory_is_known()) return NULL;
  const char *unknown = undead_other_functions_unknown();
  return unknown ? unknown : "libraries or mappings that came unseen";
}

void undead_allocator_refresh(void) {
  if (undead_allocator_is_other() && !refusal) dl_iterate_phdr(bind_image, NULL);
}

void undead_allocator_free(void *block) {
  if (undead_allocator_is_other()) undead_next.free(block);
  else __libc_free(block);
}

// MARK: The hooks

static bool is_recording_off(void) { return refusal || undead_record_mode == UNDEAD_RECORD_OFF; }

static void clear_usable(void *block, size_t from) {
  size_t size = undead_next.usable_size(block);
  if (size > from && size - from <= MOST_CLEARED) memset((char *)block + from, 0, size - from);
}

// Blocks of which no word is kept are roots. True if the block is to be cleared.
static bool keep_block(void *block, const hook_frame *frame) {
  uintptr_t address = (uintptr_t)block;
  if (is_recording_off()) {
    undead_other_memory_has_gaps();
    return false;
  }
  bool sampled = undead_record_mode == UNDEAD_RECORD_SAMPLED, seen = undead_other_memory_holds(address);
  size_t usable = sampled || !seen ? undead_next.usable_size(block) : 0;
  // Mapped before anybody looked, or in another way.
  if (!seen) undead_other_memory_add(address, usable);
  if (address % 16 == 0 && undead_hook_record(block, usable, frame)) return !sampled;
  undead_other_memory_note(address);
  return undead_thread.ignored;
}

static uint32_t forget_other(void *block) {
  uint32_t word = block && (uintptr_t)block % 16 == 0 ? undead_hook_forget(block) : 0;
  if (block && !word) undead_other_memory_forget((uintptr_t)block);
  return word;
}

void *undead_other_born(void *block, const hook_frame *frame) {
  if (!block) return NULL;
  // While backtraces are sampled only what would make it look like the dead object that was there, as in hooks.c.
  if (keep_block(block, frame)) clear_usable(block, 0);
  else if (undead_record_mode == UNDEAD_RECORD_SAMPLED) memset(block, 0, 24);
  return block;
}

void undead_other_kept(void *block, size_t bytes, const hook_frame *frame) {
  if (block && keep_block(block, frame)) clear_usable(block, bytes);
}

void undead_other_dies(void *block) { forget_other(block); }

// Another block in place of one whose address must not be used now.
static void *allocate_elsewhere(void *block, size_t alignment, size_t size) {
  for (uint32_t i = 0; block && i < MOST_PUT_ASIDE; i++) {
    if ((uintptr_t)block % 16 || !undead_avoid_block(block, undead_next.usable_size(block))) break;
    block = alignment > 16 ? undead_next.memalign(alignment, size) : undead_next.malloc(size);
  }
  return block;
}

__attribute__((noinline)) void *undead_detour_malloc(size_t size, const hook_frame *frame) {
  undead_hook_enter();
  size = undead_other_size(size);
  void *block = undead_next.malloc(size);
  if (undead_avoids_addresses) block = allocate_elsewhere(block, 16, size);
  undead_other_born(block, frame);
  undead_hook_leave();
  return block;
}

__attribute__((noinline)) void undead_detour_free(void *block, const hook_frame *frame) {
  if (!block || (undead_free_filter && undead_hook_keeps(block, frame))) return;
  undead_hook_enter();
  forget_other(block);
  undead_next.free(block);
  undead_hook_leave();
}

__attribute__((noinline)) void *undead_detour_calloc(size_t count, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  size_t total;
  bool small = !__builtin_mul_overflow(count, size, &total) && total < undead_other_size(0);
  void *block = small ? undead_next.calloc(1, undead_other_size(0)) : undead_next.calloc(count, size);
  if (block && keep_block(block, frame) && !small) clear_usable(block, total);
  undead_hook_leave();
  return block;
}

__attribute__((noinline)) void *undead_detour_realloc(void *old, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  // Before the call: afterwards the address may already be another thread's.
  uint32_t word = forget_other(old);
  size_t kept = old ? undead_next.usable_size(old) : 0;
  void *block = undead_next.realloc(old, size ? undead_other_size(size) : 0);
  // Moved to a smaller block, it has what was there before behind its end.
  if (block && keep_block(block, frame)) clear_usable(block, kept < size ? kept : size);
  else if (block && word && is_recording_off()) undead_hook_put_back(block, word);   // a known block stays known
  else if (!block && word && size) undead_hook_put_back(old, word);
  else if (!block && old && size) undead_other_memory_note((uintptr_t)old);
  undead_hook_leave();
  return block;
}

__attribute__((noinline)) void *undead_detour_aligned(size_t alignment, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  void *block = undead_next.memalign(alignment, undead_other_size(size));
  if (undead_avoids_addresses) block = allocate_elsewhere(block, alignment, size);
  undead_other_born(block, frame);
  undead_hook_leave();
  return block;
}

// In terms of memalign: glibc's own blocks are nothing that the other allocator could free.
void *undead_detour_pvalloc(size_t size, const hook_frame *frame) {
  const size_t page = 4096;
  size_t whole;
  bool fits = !__builtin_add_overflow(size, page - 1, &whole);
  void *block = fits ? undead_detour_aligned(page, whole & -page, frame) : NULL;
  if (!block) errno = ENOMEM;   // which not every memalign says
  return block;
}

__attribute__((noinline)) void *undead_detour_aligned_alloc(size_t alignment, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  void *block = undead_next.aligned_alloc(alignment, undead_other_size(size));
  undead_other_born(block, frame);
  undead_hook_leave();
  return block;
}

__attribute__((noinline)) int undead_detour_posix_memalign(void **result, size_t alignment, size_t size,
                                                           const hook_frame *frame) {
  undead_hook_enter();
  void *block = NULL;
  int code = undead_next.posix_memalign(&block, alignment, undead_other_size(size));
  if (!code) *result = undead_other_born(block, frame);
  undead_hook_leave();
  return code;
}
