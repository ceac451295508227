// The memory map and the loaded images of this process, read without malloc.
#pragma once
#include "platform/maps/segments.h"

typedef enum {
  UNDEAD_MAPPED_NOTHING = 0,   // anonymous
  UNDEAD_MAPPED_MEMORY,        // a file that only is memory, or anonymous memory that is shared
  UNDEAD_MAPPED_FILE,          // of a file system
  UNDEAD_MAPPED_KERNEL,        // pages of the kernel's that may fault or change when they are read
} undead_mapped;

typedef struct {
  uintptr_t low, high;
  bool readable, writable, executable, shared;
  bool not_inherited;          // forked copies do not get it; only known after undead_inheritance_note
  bool taken;                  // what it holds was copied: not to be read where it lies
  uint8_t what;                // undead_mapped
  uint64_t offset, inode;      // in which file it starts where
  const char *path;            // as the kernel shows it, until the next refresh; "" if there is none
} undead_mapping;

// From now on these texts are what /proc says of the memory: in a replica, where the program's own map counts. They stay where
// they are. Without `smaps` nothing is known of it.
void undead_maps_give(const char *maps, size_t maps_bytes, const char *smaps, size_t smaps_bytes);
// Calls `visit` for each line of /proc/self/smaps until it returns false; false if there is none.
bool undead_smaps_each_line(bool (*visit)(void *context, const char *text, const char *end), void *context);
// Reads /proc/self/maps again. Not thread-safe: the scan's thread only.
bool undead_maps_refresh(void);
extern uint32_t undead_maps_generation;   // counts the refreshes
// Marks a mapping as taken; undead_maps_hide_taken makes all of those unreadable.
void undead_mapping_take(size_t index, bool taken);
void undead_maps_hide_taken(void);
// Notes that the memory of a mapping can be read now.
void undead_mapping_open(size_t index);
const undead_mapping *undead_mapping_of(uintptr_t address);
size_t undead_mapping_count(void);
const undead_mapping *undead_mapping_at(size_t index);   // in address order
// By the map, or by the kernel where the thread has asked for that (readable.h).
bool undead_is_readable(uintptr_t address, size_t size);
// How many of the `most` bytes from `address` on can be read for certain, 0 if none.
size_t undead_readable_bytes(uintptr_t address, size_t most);
bool undead_is_executable(uintptr_t address);
// Calls `visit` for each mapping as it is now, until it returns false; false if /proc cannot be read. Any thread.
bool undead_maps_each(bool (*visit)(void *context, const undead_mapping *mapping), void *context);
// One line of /proc/PID/maps: "low-high rwxp offset dev inode   path". The mapping has no path of its own.
typedef struct {
  undead_mapping mapping;
  const char *path;       // not terminated
  size_t path_length;
} undead_maps_line;

// The same with the lines as they were read, into the `buffer` of the caller: for signal handlers, whose stack may be small.
// Longer lines are skipped.
enum { UNDEAD_MAPS_BUFFER = 8192 };   // enough for each path
bool undead_maps_each_in(
  char *buffer, size_t size, bool (*visit)(void *context, const undead_maps_line *line), void *context);
// Path of the file mapped at `address`, as the kernel shows it (" (deleted)" included); false if there is none.
bool undead_mapping_path(uintptr_t address, char *text, size_t size);

typedef struct {
  uintptr_t low, high;      // all loaded segments
  uintptr_t bias;           // add to an address of the file
  char path[512];
  char build_id[UNDEAD_BUILD_ID_TEXT];   // hex, "" if there is none
  bool toolchain;           // part of the Swift toolchain or of the system's C libraries, not of the program
} undead_module;

// Lists the loaded images again (dl_iterate_phdr), and forgets their symbols, if some came or went. The scan's thread only.
void undead_modules_refresh(void);
extern uint32_t undead_modules_generation;   // counts the lists
// Forgets all of it: a file that is read for symbols may have been damaged since.
void undead_symbols_forget(void);
// Keeps what is known, and lets go of the pages of the files: they count as memory of the process. The scan's thread only.
void undead_symbols_let_go(void);
size_t undead_module_count(void);
const undead_module *undead_module_at(size_t index);
const undead_module *undead_module_of(uintptr_t address);

// Symbols of an image from .symtab (else .dynsym), by mapping the file. Addresses are those of this process; for a
// thread-local variable, its offset in the image's thread-local storage plus the bias.
uintptr_t undead_symbol_address(const undead_module *module, const char *name, size_t *size);
// The same for a function that is not exported and stands near `place`, as those of one source file do. To look for its name
// among all names would read megabytes of the file, which then count as memory of the process.
uintptr_t undead_symbol_beside(const undead_module *module, uintptr_t place, const char *name, size_t *size);
// The function or object that contains `address` ("" if unknown); the text is valid until undead_modules_refresh.
const char *undead_symbol_name(uintptr_t address, uintptr_t *start);
// Of the same symbol: STV_DEFAULT and its like (elf.h); STV_DEFAULT if it is unknown.
int undead_symbol_visibility(uintptr_t address);
// Calls `visit` for each variable of an image that is not thread-local, until it returns false, which is the result.
typedef bool (*undead_variable_visitor)(void *context, const char *name, uintptr_t address, size_t size);
bool undead_symbols_each_variable(const undead_module *module, undead_variable_visitor visit, void *context);
