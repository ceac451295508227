// Where the resident memory of the process is: each mapping of /proc/self/smaps, but for what the instrument holds itself.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/system/read_text.h"
#include "platform/memory/sort.h"
#include "session/sections/snapshot_sections.h"
#include "session/state/settings.h"
#include "session/buffers/buffers.h"
#include "unwind/walk_x86_64.h"
#include "world/given.h"
#include "platform/system/text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/user.h>

#define MOST_MAPPINGS (1u << 17)
#define LINE_BYTES 4400u
#define PAGES_AT_ONCE 4096u
#define MOST_FRAMES 256u

typedef enum {
  MEMORY_LIVE = 1, MEMORY_FREE, MEMORY_STACK, MEMORY_FILE, MEMORY_MAPPED, MEMORY_OWN, MEMORY_OTHER,
} memory_kind;

typedef struct {
  uintptr_t low, high;
  uint64_t resident, live;   // `live`: usable bytes of blocks
  uint64_t own, own_reserved;
  uint32_t name;             // of a file
  bool file, malloc, stack, other, instrument;
} mapping;

typedef struct {
  undead_writer *writer;
  const undead_graph *graph;
  undead_section *section;
  mapping *mappings;
  uint32_t count;
  uint64_t sums[MEMORY_OTHER + 1][2];   // resident and reserved bytes of what is shown in one line
} memory_map;

// The library, the state file, and what copies of the process share with it.
static bool is_of_instrument(const char *path) {
  const char *slash = strrchr(path, '/'), *directory = undead_settings_get()->directory;
  if (!slash) return false;
  if (undead_starts_with(slash + 1, "libUndeadPreload.")) return true;
  size_t length = strlen(directory);
  // Below the folder: another one may begin with its name.
  return length && strncmp(path, directory, length) == 0 && path[length] == '/';
}

static void name_mapping(memory_map *map, mapping *entry, const char *path) {
  entry->malloc = strcmp(path, "[heap]") == 0;
  entry->stack = strcmp(path, "[stack]") == 0;
  entry->other = path[0] == '[' && !entry->malloc && !entry->stack && !undead_starts_with(path, "[anon");
  entry->file = path[0] == '/';
  entry->instrument = is_of_instrument(path);
  if (entry->file) entry->name = undead_string_add(&map->writer->tables.strings, path);
}

// A mapping's first line: "low-high perms offset device inode   path".
static bool begin_mapping(memory_map *map, char *line) {
  const char *end;
  uintptr_t low = undead_read_number(line, 16, &end);
  if (*end != '-' || map->count == MOST_MAPPINGS) return false;
  uintptr_t high = undead_read_number(end + 1, 16, &end);
  for (int field = 0; field < 4; field++) end += strcspn(end + 1, " ") + 1;
  mapping *entry = &map->mappings[map->count++];
  *entry = (mapping){.low = low, .high = high};
  name_mapping(map, entry, end + strspn(end, " "));
  return true;
}

static void read_line(memory_map *map, char *line) {
  bool is_field = line[0] >= 'A' && line[0] <= 'Z';
  if (!is_field) begin_mapping(map, line);
  else if (map->count && undead_starts_with(line, "Rss:"))
    map->mappings[map->count - 1].resident = undead_read_number(line + 4, 10, NULL) * 1024;
}

static bool visit_line(void *context, const char *text, const char *end) {
  static char line[LINE_BYTES];
  size_t length = (size_t)(end - text) < sizeof line - 1 ? (size_t)(end - text) : sizeof line - 1;
  memcpy(line, text, length);
  line[length] = 0;
  read_line(context, line);
  return true;
}

static mapping *mapping_of(memory_map *map, uintptr_t address) {
  size_t at = undead_range_behind(map->mappings, map->count, sizeof *map->mappings, address);
  return at < map->count && map->mappings[at].low <= address ? &map->mappings[at] : NULL;
}

// Of anonymous memory.
static uint64_t resident_bytes(uintptr_t low, uintptr_t high) {
  static unsigned char pages[PAGES_AT_ONCE];
  uint64_t resident = 0;
  for (uintptr_t at = undead_page_of(low); at < high; at += PAGES_AT_ONCE * UNDEAD_PAGE) {
    size_t length = high - at < PAGES_AT_ONCE * UNDEAD_PAGE ? high - at : PAGES_AT_ONCE * UNDEAD_PAGE;
    if (mincore((void *)at, length, pages) != 0) continue;
    for (size_t i = 0; i < (length + UNDEAD_PAGE - 1) / UNDEAD_PAGE; i++) resident += pages[i] & 1;
  }
  return resident * UNDEAD_PAGE;
}

static void note_own(memory_map *map) {
  uintptr_t low, high;
  for (size_t i = 0; undead_owned_range(i, &low, &high); i++) {
    for (uintptr_t at = low; at < high;) {
      mapping *entry = mapping_of(map, at);
      if (entry && entry->file) entry->instrument = true;
      if (!entry || entry->file) break;
      uintptr_t end = high < entry->high ? high : entry->high;
      if (entry->resident) entry->own += resident_bytes(at, end);
      entry->own_reserved += end - at;
      at = end;
    }
  }
}

static void note_blocks(memory_map *map) {
  for (uint32_t i = 0; i < map->graph->area_count; i++) {
    mapping *entry = mapping_of(map, map->graph->areas[i].address);
    if (!entry) continue;
    entry->live += map->graph->areas[i].live;
    entry->malloc = true;
  }
}

// Parts of arenas without a block are malloc's, too.
static void note_part(void *context, undead_glibc_area part, bool main) {
  (void)main;
  mapping *entry = mapping_of(context, part.low);
  if (entry && !entry->file) entry->malloc = true;
}

static void note_stacks(memory_map *map) {
  for (uint32_t i = 0; i < map->graph->root_count; i++) {
    const undead_graph_root *root = &map->graph->roots[i];
    mapping *entry = root->kind == UNDEAD_ROOT_STACK ? mapping_of(map, root->address) : NULL;
    if (entry && !entry->malloc && !entry->file) entry->stack = true;
  }
}

static void write_memory_kind(memory_map *map, memory_kind kind, uint32_t name, uint64_t resident, uint64_t reserved) {
  struct {
    uint32_t name, kind;
    uint64_t resident, reserved;
  } entry = {name, kind, resident, reserved};
  if (resident || reserved) undead_section_add(map->writer, map->section, &entry);
}

static void sum_up(memory_map *map, memory_kind kind, uint64_t resident, uint64_t reserved) {
  map->sums[kind][0] += resident;
  map->sums[kind][1] += reserved;
}

// What of a file is resident, in all of its mappings, is counted when the first one is met.
static void tell_file(memory_map *map, uint32_t first) {
  uint64_t resident = 0, reserved = 0;
  uint32_t name = map->mappings[first].name;
  for (uint32_t i = 0; i < map->count; i++) {
    const mapping *entry = &map->mappings[i];
    if (!entry->file || entry->name != name || entry->instrument) continue;
    if (i < first) return;
    resident += entry->resident;
    reserved += entry->high - entry->low;
  }
  write_memory_kind(map, MEMORY_FILE, name, resident, reserved);
}

static void add_up(memory_map *map, const mapping *entry) {
  uint64_t own = entry->own < entry->resident ? entry->own : entry->resident;
  uint64_t rest = entry->resident - own, reserved = entry->high - entry->low - entry->own_reserved;
  sum_up(map, MEMORY_OWN, own, entry->own_reserved);
  if (entry->malloc) {
    // Of large blocks that were never written to, only a part may be there.
    uint64_t live = entry->live < rest ? entry->live : rest;
    sum_up(map, MEMORY_LIVE, live, entry->live);
    sum_up(map, MEMORY_FREE, rest - live, reserved > entry->live ? reserved - entry->live : 0);
  } else {
    sum_up(map, entry->stack ? MEMORY_STACK : entry->other ? MEMORY_OTHER : MEMORY_MAPPED, rest, reserved);
  }
}

static void tell_all(memory_map *map) {
  static const char *const names[] = {
    [MEMORY_LIVE] = "live blocks", [MEMORY_FREE] = "malloc: free and overhead", [MEMORY_STACK] = "stacks of threads",
    [MEMORY_MAPPED] = "memory that the program mapped", [MEMORY_OWN] = "Undead", [MEMORY_OTHER] = "other",
  };
  for (uint32_t i = 0; i < map->count; i++) {
    const mapping *entry = &map->mappings[i];
    if (entry->instrument) sum_up(map, MEMORY_OWN, entry->resident, entry->high - entry->low);
    else if (entry->file) tell_file(map, i);
    else add_up(map, &map->mappings[i]);
  }
  for (uint32_t kind = MEMORY_LIVE; kind <= MEMORY_OTHER; kind++)
    if (names[kind])
      write_memory_kind(map, (memory_kind)kind, undead_string_add(&map->writer->tables.strings, names[kind]), map->sums[kind][0],
           map->sums[kind][1]);
}

static void tell_stack(memory_map *map, int32_t thread, uintptr_t address, const uintptr_t *frames, uint32_t count) {
  const mapping *entry = mapping_of(map, address);
  struct {
    uint32_t thread, frames;
    uint64_t resident, reserved;
  } stack = {(uint32_t)thread, undead_table_stack(&map->writer->tables, frames, count), 0, 0};
  if (entry) (stack.resident = entry->resident, stack.reserved = entry->high - entry->low);
  undead_section_add(map->writer, map->section, &stack);
}

// Of a copy, whose threads stand still.
static void tell_given(memory_map *map, const undead_given_thread *thread) {
  uintptr_t frames[MOST_FRAMES];
  const struct user_regs_struct *registers = (const struct user_regs_struct *)thread->registers;
  // It has not called anything: behind its instruction, as a return address is.
  undead_frame frame = {registers->rip + 1, registers->rsp, registers->rbp};
  uint32_t count = 0;
  frames[count++] = frame.pc;
  while (frame.sp && count < MOST_FRAMES && undead_walk_step(&frame) == UNDEAD_STEP_CALLER) frames[count++] = frame.pc;
  tell_stack(map, thread->tid, registers->rsp, frames, frame.sp ? count : 0);
}

// The threads of a program that goes on are known by what their stacks hold.
static void tell_stacks(memory_map *map) {
  const undead_given_world *given = undead_given();
  map->section = undead_section_begin(map->writer, UNDEAD_SECTION_HEAP_STACKS, 24);
  for (uint32_t i = 0; given && i < given->thread_count; i++) tell_given(map, &given->threads[i]);
  for (uint32_t i = 0; !given && i < map->graph->root_count; i++) {
    const undead_graph_root *root = &map->graph->roots[i];
    if (root->kind == UNDEAD_ROOT_STACK) tell_stack(map, (int32_t)root->thread, root->address, NULL, 0);
  }
}

void undead_heap_memory_write(undead_writer *writer, const undead_graph *graph) {
  memory_map map = {.writer = writer, .graph = graph};
  size_t bytes = MOST_MAPPINGS * sizeof *map.mappings;
  map.section = undead_section_begin(writer, UNDEAD_SECTION_HEAP_MEMORY, 24);
  map.mappings = undead_map(bytes);
  if (!map.mappings) return;
  if (undead_smaps_each_line(visit_line, &map)) {
    note_own(&map);
    note_blocks(&map);
    undead_malloc_parts_each(note_part, &map);
    note_stacks(&map);
    tell_all(&map);
    tell_stacks(&map);
  }
  undead_unmap(map.mappings, bytes);
}
