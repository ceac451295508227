// What is known about the layout of a type of Swift object, by its isa. Built outside of the stopped world (it asks
// the Swift runtime), read by the scan without locks.
#pragma once
#include "runtime/found.h"
#include <stddef.h>

typedef enum {
  UNDEAD_CATEGORY_NONE = 0,
  UNDEAD_CATEGORY_FOUNDATION_TIMER,
  UNDEAD_CATEGORY_CF,                    // Foundation.__NSCFType and toll-free bridged boxes
  UNDEAD_CATEGORY_DISPATCH_SOURCE,       // the Swift wrapper
  UNDEAD_CATEGORY_OBSERVER_TABLE,        // _DictionaryStorage of NotificationCenter's closures
  UNDEAD_CATEGORY_OBSERVER_TOKEN,
  UNDEAD_CATEGORY_STRING_STORAGE,        // of native strings
  UNDEAD_CATEGORY_DATA_STORAGE,          // of Foundation's Data
  UNDEAD_CATEGORY_TASK,
  UNDEAD_CATEGORY_TASK_SLAB,
} undead_category;

// How the elements of a collection lie in its storage.
typedef enum {
  UNDEAD_STORAGE_NONE = 0, UNDEAD_STORAGE_ARRAY, UNDEAD_STORAGE_SET, UNDEAD_STORAGE_DICTIONARY,
  UNDEAD_STORAGE_TAIL,       // of an heir of ManagedBuffer: which elements are in use, only the program knows
  UNDEAD_STORAGE_RING,       // of a deque: `count` elements from `start` on, around the end of the capacity
} undead_storage_kind;

// What the type says of a word of an object. Whatever the words of an object in use hold at any moment when no thread is
// changing it: other words are raw.
typedef enum {
  UNDEAD_EVIDENCE_RAW = 0,   // anything: unmanaged, untyped or not understood; keeps alive what it names
  UNDEAD_EVIDENCE_COUNTED,   // nothing, or a strong reference that is counted at the object it names
  UNDEAD_EVIDENCE_NUMBER,    // of integer, floating-point or character types, padding, or dead: no reference
  UNDEAD_EVIDENCE_NONE,      // weak, unowned or unused: keeps nothing alive
  UNDEAD_EVIDENCE_PERHAPS,   // a counted reference if it is in use, which is unknown
  // Only in tables, where other words decide: undead_body_evidence (scan/bodies/body.h) yields one of the above.
  UNDEAD_EVIDENCE_TEXT,      // of a string: a counted reference unless the top bit is set
  UNDEAD_EVIDENCE_GUARDED,   // counted unless the word that guards it says that there is no value
  UNDEAD_EVIDENCE_BUFFER,    // of an opaque existential: its dynamic type decides
} undead_evidence;

// A word of an optional value or of a payload, of which another one says whether it is in use: by a value between these, in some of its
// bits. All guards of a word with the same `choice` have to agree; one such choice is enough.
typedef struct {
  uint32_t word, guard;      // offsets
  uint64_t mask;             // the bits of the guard
  uint64_t first, last;
  uint32_t choice;
  bool within;               // in use with a value between these, otherwise with any other
} undead_guard;

// Words of an object, besides the first, that decide what its others are (variants.c).
#define UNDEAD_MOST_DECIDING 8u
typedef struct {
  uint32_t offset, count;    // count 0: there are none
} undead_deciding_words;

typedef struct {
  uintptr_t isa;
  uint32_t count;
  uintptr_t words[UNDEAD_MOST_DECIDING];
} undead_variant;

// Where a value has the range that it shows of the storage that it refers to: bytes from the word with the reference.
typedef struct {
  uint32_t low, high;        // the first byte (24 bits), and the one behind the last (32 bits)
} undead_slice_layout;

// A field that is the number of an open file by its name or type, or an element that may be one by its type.
enum {
  UNDEAD_DESCRIPTOR_WHOLE = 0,
  UNDEAD_DESCRIPTOR_OPTIONAL,   // nothing is there if the byte behind says so
  UNDEAD_DESCRIPTOR_WIDE,       // of 64 bits
};
#define UNDEAD_CAPTURED "captured"
#define UNDEAD_CAPTURED_INT "captured Int32"   // which may be any number
typedef struct {
  uint32_t offset;
  uint8_t form;
  bool key;                  // of a dictionary
  const char *name;          // "[...]" of elements without fields, UNDEAD_CAPTURED of captures
} undead_descriptor_field;

typedef struct {
  uintptr_t isa;
  undead_deciding_words deciding;
  uint8_t kind;              // undead_kind
  uint8_t category;          // undead_category
  uint32_t fixed_size;       // bytes of an instance that has no tail; 0 if that is not known
  bool user_type;            // declared outside of the toolchain's libraries and of this package's
  uint16_t skip_count;       // words that hold weak or unowned references: not to be followed
  const uint32_t *skip;      // their offsets, ascending
  uint16_t buffer_count;     // existentials, whose buffers use as many words as their value needs
  const uint32_t *buffers;   // their offsets, ascending
  uint32_t strides[2];       // of a collection's elements or keys, and of a dictionary's values
  uint32_t first_element;    // offset of the first element of an array or ring
  uint32_t capacity, count, start;   // offsets of a ring's words; of the number of bytes in a byte buffer's storage
  undead_slice_layout slice;         // of values that refer to a byte buffer's storage; `high` is 0 of other classes
  uint8_t storage;           // undead_storage_kind
  uint32_t word_count;       // of `words`
  const uint8_t *words;      // undead_evidence of the word at 8 * i of an instance; what lies behind is raw
  uint16_t guard_count;
  const undead_guard *guards;   // of the guarded words, and of raw words that are counted in one case, ascending
  const uint8_t *element_words[2];   // of the words of an element, a single one if its stride is no multiple of 8;
                                     // NULL: raw
  uint16_t element_guard_count[2];
  const undead_guard *element_guards[2];   // of their guarded words, with offsets in the element
  bool numbers[2];           // all of them are numbers
  uint32_t descriptor_count;
  const undead_descriptor_field *descriptors;   // of a collection those of each element or value
} undead_layout;

// Whether it is the storage of an array, a set or a dictionary.
static inline bool undead_has_elements(const undead_layout *layout) {
  return layout->storage >= UNDEAD_STORAGE_ARRAY && layout->storage <= UNDEAD_STORAGE_DICTIONARY;
}

// Classifies a first word; 0 (UNDEAD_KIND_OTHER) unless it is certainly the isa of an object of at most `size` bytes.
// Needs the memory map (undead_maps_refresh); takes no lock, allocates nothing, never faults.
undead_kind undead_classify(uintptr_t isa, uint64_t size);

// Finds the runtime's symbols in this process; false if no Swift runtime is loaded. Idempotent.
bool undead_runtime_find(void);

// Computes the layouts of `count` isas that are not known yet. Takes runtime locks: the world must be running.
void undead_layouts_add(const uintptr_t *isas, size_t count);
// The same of objects of known isas whose deciding words are these.
void undead_layouts_add_variants(const undead_variant *variants, size_t count);
// Lock-free; NULL if the isa is not known.
const undead_layout *undead_layout_of(uintptr_t isa);
// Of the object at `block`, whose isa has this layout: that which its deciding words give it, if it is known.
const undead_layout *undead_layout_in(const undead_layout *layout, uintptr_t block, size_t size);

undead_deciding_words undead_deciding_words_of(uintptr_t isa, undead_kind kind);
uintptr_t undead_variant_key(uintptr_t isa, const uintptr_t *words, uint32_t count);
// Whether a word is the metadata of a class, struct or enum, and not what malloc left there, or the program put.
bool undead_is_certainly_type(uintptr_t word);

// Naming, after the world runs again. Texts go to `text` (always terminated), UTF-8; return the length.
// Only reads memory of nodes in the state LEAKED, RAW or SUPPORT (which nobody can change); of others, by layout.
size_t undead_name_node(const undead_scan_result *result, uint32_t node, char *text, size_t size);
// Return addresses that explain a node better than its allocation: the async frames of a task (innermost first).
uint32_t undead_node_frames(const undead_scan_result *result, uint32_t node, uintptr_t *frames, uint32_t max);
// The same of the task at `task`. `read` gives two words of memory, or says that it cannot be read.
typedef bool (*undead_word_reader)(const void *reader, uintptr_t address, uintptr_t words[2]);
uint32_t undead_async_frames(uintptr_t task, undead_word_reader read, const void *reader, uintptr_t *frames, uint32_t max);
// Whether one of these functions of the program comes to where it waits again: it is in a loop. False if that is not known: without
// symbols, and on other processors than x86-64.
bool undead_frames_loop(const uintptr_t *frames, uint32_t count);

typedef struct {
  char label[512];       // field path: "delegate", "state.pending[3].handler", "captured self"; "" if unknown
  char type[512];        // declared type of the innermost field, "" if unknown
  uint8_t ownership;     // 0 strong, 1 weak, 2 unowned, 3 unowned(unsafe) or Unmanaged
  uint32_t flags;        // UNDEAD_EDGE_WEAK if the word is certainly no reference at present (unused part of an enum,
                         // of an existential, of an array): to be added to the flags of the edge
  uintptr_t function;    // function of the closure value stored in the field, 0 if it is none
} undead_edge_name;
void undead_name_edge(const undead_scan_result *result, uint32_t edge, undead_edge_name *name);
// A field of the type of an object that a closure captured weakly; without label and type it is the object's type alone.
typedef struct {
  char owner[512], label[512], type[512];
} undead_owner_field;
typedef void (*undead_owner_field_visitor)(void *context, const undead_owner_field *field);
// Of each such object its type, then its fields.
void undead_each_owner_field(const undead_node *closure, undead_owner_field_visitor visit, void *context);
// Symbol or section that owns a global root ("App.cache", module path if unknown).
size_t undead_name_root(const undead_scan_result *result, uint32_t path, char *text, size_t size);
