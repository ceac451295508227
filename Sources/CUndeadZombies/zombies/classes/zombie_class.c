#include "zombies/classes/zombie_class.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/memory/thread_state.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/descriptors.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include "unwind/room.h"
#include "zombies/shared/lock.h"
#include "zombies/classes/metadata.h"
#include "zombies/classes/type_lists.h"
#include <dlfcn.h>
#include <string.h>

enum { MAX_ZOMBIE_CLASS_DEPTH = 64, KEEP_BYTES = 16 << 20, FIRST_TABLE = 4096 };
// The class of a zombie stands so far before its isa, beyond every prefix of metadata.
#define CLASS_WORD 72u

uintptr_t undead_zombie_isas;
undead_zombie_class *undead_class_cache[UNDEAD_CLASS_CACHE];

static undead_bounded_lock lock;
static uintptr_t next_isa;             // free part of the range
static char *kept, *kept_end;          // memory for what is known of types
static undead_word_map classes;        // by original isa; 0: not a type, or no room
static undead_zombie_class *newest[1 << 16];   // all of them, for the lists
static uint32_t class_count;
static const undead_zombie_stubs *stubs;

bool undead_zombie_classes_prepare(const undead_zombie_stubs *wanted) {
  stubs = wanted;
  if (undead_zombie_isas) return true;
  void *range = undead_map(UNDEAD_ZOMBIE_ISA_BYTES);
  if (!range) return false;
  next_isa = (uintptr_t)range;
  undead_zombie_isas = (uintptr_t)range;
  return true;
}

static void *keep(size_t bytes) {
  bytes = (bytes + 7) & ~(size_t)7;
  if (!kept || (size_t)(kept_end - kept) < bytes) {
    kept = undead_map(KEEP_BYTES);
    kept_end = kept ? kept + KEEP_BYTES : NULL;
    if (!kept || bytes > KEEP_BYTES) return NULL;
  }
  void *memory = kept;
  kept += bytes;
  return memory;
}

static undead_type_name_pair (*type_name)(const void *type, bool qualified);

static bool find_type_name(void) {
  if (type_name) return true;
  *(void **)&type_name = undead_symbol(RTLD_DEFAULT, "swift_getTypeName");
  if (!type_name && undead_runtime_find()) type_name = undead_runtime.type_name;
  return type_name != NULL;
}

static const char *name_of(uintptr_t isa) {
  const char *module, *plain;
  undead_metadata_names(isa, &module, &plain);
  // Ends with a zero byte: the runtime keeps its names as texts of C.
  if (find_type_name()) {
    undead_type_name_pair name = type_name((const void *)isa, true);
    char *copy = name.text ? keep(name.length + 1) : NULL;
    if (copy) memcpy(copy, name.text, name.length);
    if (copy) return copy;
  }
  return plain;
}

// True if the list names the class or one it inherits from.
static bool is_listed(undead_type_list list, const undead_zombie_class *class) {
  if (undead_type_list_is_empty(list)) return false;
  if (undead_type_list_has(list, class->name)) return true;
  uintptr_t isa = class->is_context ? 0 : word_at(class->original + ABI_CLASS_SUPER);
  for (int depth = 0; depth < MAX_ZOMBIE_CLASS_DEPTH && undead_metadata_is_class(isa); depth++) {
    if (!find_type_name()) break;
    undead_type_name_pair name = type_name((const void *)isa, true);
    if (name.text && undead_type_list_has(list, name.text)) return true;
    isa = word_at(isa + ABI_CLASS_SUPER);
  }
  return false;
}

static void apply_lists(undead_zombie_class *class) {
  bool allowed = undead_type_list_is_empty(UNDEAD_LIST_ALLOW) || is_listed(UNDEAD_LIST_ALLOW, class);
  class->keep = class->zombie && allowed && !is_listed(UNDEAD_LIST_DENY, class);
  const char *module = "Swift", *name;
  if (!class->is_context) undead_metadata_names(class->original, &module, &name);
  class->is_storage = !class->is_context && !strcmp(module, "Swift");
  class->guard = class->keep && (undead_type_list_is_empty(UNDEAD_LIST_GUARD)
                                     ? class->is_context || !undead_is_toolchain_module(module)
                                     : is_listed(UNDEAD_LIST_GUARD, class));
}

// Copies the metadata from `prefix` bytes before the isa on; returns the copy's isa, 0 without room.
static uintptr_t copy_metadata(uintptr_t isa, uint32_t prefix, uint32_t size, const undead_zombie_class *class) {
  uintptr_t copy = (next_isa + CLASS_WORD + 15) & ~(uintptr_t)15, end = copy - prefix + size;
  if (end > undead_zombie_isas + UNDEAD_ZOMBIE_ISA_BYTES) return 0;
  memcpy((void *)(copy - prefix), (const void *)(isa - prefix), size);
  *(uintptr_t *)(copy - CLASS_WORD) = (uintptr_t)class;
  next_isa = end;
  return copy;
}

static void set_slot(undead_zombie_class *class, uint8_t *methods, uint32_t slot, uint32_t flags) {
  uintptr_t original = word_at(class->original + slot * 8ul), *place = (uintptr_t *)(class->zombie + slot * 8ul);
  if (!original) return;
  if (flags & ABI_METHOD_IS_DATA) {
    if (!undead_page_is_readable(original)) return;
    uint32_t needed = ((const undead_method_record *)original)->context_size;
    if (stubs->records[slot].context_size < needed) stubs->records[slot].context_size = needed;
    *place = (uintptr_t)&stubs->records[slot];
  } else {
    *place = (uintptr_t)&stubs->methods[slot * UNDEAD_STUB_BYTES];
  }
  methods[slot] = (uint8_t)(flags & 0x7F) | UNDEAD_SLOT_IS_METHOD;
}

static void set_slots(undead_zombie_class *class, uint8_t *methods) {
  uintptr_t isa = class->original;
  for (int depth = 0; depth < MAX_ZOMBIE_CLASS_DEPTH && undead_metadata_is_class(isa); depth++) {
    undead_vtable table = undead_metadata_vtable(isa);
    for (uint32_t i = 0; i < table.count; i++) {
      uint64_t slot = (uint64_t)table.first + i;
      if (slot >= UNDEAD_STUB_COUNT || slot >= class->slot_count || slot * 8 < ABI_CLASS_HEADER_BYTES) break;
      uint32_t flags = u32_at((uintptr_t)table.methods + i * (uintptr_t)ABI_METHOD_BYTES);
      // What later runtimes add may be called in ways of its own: it stays.
      if ((flags & ABI_METHOD_KIND_MASK) <= ABI_METHOD_KIND_READ) set_slot(class, methods, (uint32_t)slot, flags);
    }
    isa = word_at(isa + ABI_CLASS_SUPER);
  }
}

static bool make_class(undead_zombie_class *class) {
  uintptr_t isa = class->original;
  uint32_t prefix = u32_at(isa + ABI_CLASS_CLASS_ADDRESS_POINT), size = u32_at(isa + ABI_CLASS_SIZE);
  class->slot_count = (size - prefix) / 8;
  uint8_t *methods = keep(class->slot_count);
  if (!methods) return false;
  class->methods = methods;
  class->name = name_of(isa);
  class->zombie = copy_metadata(isa, prefix, size, class);
  if (!class->zombie) return false;
  // Casts walk up from the object's class: the dead are still what they were.
  *(uintptr_t *)(class->zombie + ABI_CLASS_SUPER) = isa;
  *(uintptr_t *)(class->zombie + ABI_METADATA_DESTROY) = (uintptr_t)stubs->destroy;
  set_slots(class, methods);
  return true;
}

static bool make_context(undead_zombie_class *class) {
  class->is_context = true;
  class->name = "closure";
  const size_t prefix = -ABI_METADATA_DESTROY;
  class->zombie = copy_metadata(class->original, prefix, prefix + ABI_CONTEXT_CAPTURES + 8, class);
  if (!class->zombie) return false;
  *(uintptr_t *)(class->zombie + ABI_METADATA_DESTROY) = (uintptr_t)stubs->destroy;
  return true;
}

static undead_zombie_class *make(uintptr_t isa) {
  bool is_class = undead_metadata_is_class(isa);
  if (!is_class && !undead_metadata_is_context(isa)) return NULL;
  undead_zombie_class *class = keep(sizeof *class);
  if (!class) return NULL;
  class->original = isa;
  if (!(is_class ? make_class(class) : make_context(class))) class->zombie = 0;
  apply_lists(class);
  if (class_count < sizeof newest / sizeof *newest) newest[class_count] = class;
  class_count++;
  return class;
}

static undead_zombie_class *make_error(uintptr_t type) {
  if (!undead_metadata_is_readable(type)) return NULL;
  undead_zombie_class *class = keep(sizeof *class);
  if (!class) return NULL;
  class->original = type;
  class->is_error = true;
  class->name = name_of(type);
  return class;
}

// The runtime needs more stack to name a type than a thread may have that lets an object go.
typedef struct {
  undead_zombie_class *(*make)(uintptr_t type);
  uintptr_t type;
  undead_zombie_class *class;
} class_request;

static void make_requested(void *context) {
  class_request *request = context;
  request->class = request->make(request->type);
}

static undead_zombie_class *find_class(uintptr_t key, class_request request) {
  if (!undead_lock_take_in_hook(&lock)) return NULL;
  uintptr_t known = 0;
  undead_thread.ignored++;   // naming allocates
  if (!undead_word_map_get(&classes, key, &known)) {
    undead_run_with_room(make_requested, &request);
    known = (uintptr_t)request.class;
    undead_word_map_set(&classes, key, known);
  }
  undead_thread.ignored--;
  undead_lock_release_in_hook(&lock);
  return (undead_zombie_class *)known;
}

// A class may be an error as well.
const undead_zombie_class *undead_zombie_class_of_error(uintptr_t type) {
  enum { IN_BOX = 1 };
  return find_class(type | IN_BOX, (class_request){.make = make_error, .type = type});
}

undead_zombie_class *undead_zombie_class_find(uintptr_t isa) {
  if (isa < 4096 || isa >> UNDEAD_ADDRESS_BITS || undead_is_zombie_isa(isa)) return NULL;
  undead_zombie_class *class = find_class(isa, (class_request){.make = make, .type = isa});
  uint32_t place = (uint32_t)(isa >> 3 ^ isa >> 15) & (UNDEAD_CLASS_CACHE - 1);
  if (class) __atomic_store_n(&undead_class_cache[place], class, __ATOMIC_RELEASE);
  return class;
}

const undead_zombie_class *undead_zombie_class_of_isa(uintptr_t zombie) {
  if (!undead_is_zombie_isa(zombie) || (zombie & 7) || zombie - undead_zombie_isas < CLASS_WORD) return NULL;
  const undead_zombie_class *class = *(undead_zombie_class *const *)(zombie - CLASS_WORD);
  // A word in the middle of a class would lead anywhere: only one that leads back counts.
  if (!class || ((uintptr_t)class & 7) || !undead_owns_memory((uintptr_t)class)) return NULL;
  return class->zombie == zombie ? class : NULL;
}

void undead_zombie_classes_apply_lists(void) {
  if (!undead_lock_take_in_hook(&lock)) return;
  undead_thread.ignored++;
  uint32_t count = class_count < sizeof newest / sizeof *newest ? class_count : sizeof newest / sizeof *newest;
  for (uint32_t i = 0; i < count; i++) apply_lists(newest[i]);
  undead_thread.ignored--;
  undead_lock_release_in_hook(&lock);
}

uint64_t undead_zombie_class_count(void) { return __atomic_load_n(&class_count, __ATOMIC_RELAXED); }

void undead_zombie_classes_before_fork(void) { undead_lock_before_fork(&lock); }
void undead_zombie_classes_after_fork(void) { undead_lock_after_fork(&lock); }
