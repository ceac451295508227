// Which of the unreachable blocks that are no Swift objects belong into a report. Runs with the world running: it needs
// symbols, and no memory of the blocks.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "scan/view/collect.h"
#include "scan/graph.h"
#include "unwind/backtrace.h"
#include "platform/system/text.h"
#include <string.h>

enum { MAX_FRAMES = 16, MOST_NAMES = 3 };

// Whose an unreachable block is that is no Swift object.
typedef enum { OF_C_CODE, OF_SWIFT_CODE, OF_TOOLCHAIN } owner;

// Functions that return memory which then belongs to their caller; entered from Swift code they count as its own.
static const char *const allocators[] = {
  "swift_slowAlloc", "swift_slowAllocTyped", "$sSp8allocate8capacity", "$sSv8allocate9byteCount",
  "$sSr8allocate8capacity", "$sSw8allocate9byteCount", "strdup", "__strdup", "strndup", "__strndup", "realpath",
  "__realpath", "canonicalize_file_name", "vasprintf", "__vasprintf_internal", "asprintf", "___asprintf", "getcwd",
  "__getcwd", "get_current_dir_name", "wcsdup", "__wcsdup", "getdelim", "__getdelim", "_IO_getdelim", "getline",
  "__getline", "scandir", "__scandir", "tempnam", "backtrace_symbols", "__backtrace_symbols",
};

static bool is_allocator(const char *name, bool *of_swift) {
  for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
    if (!undead_starts_with(name, allocators[i])) continue;
    *of_swift |= allocators[i][0] == '$' || undead_starts_with(allocators[i], "swift");
    return true;
  }
  return false;
}

// With -static-stdlib the toolchain's own functions lie in the program.
static bool is_of_toolchain(const char *name) {
  static const char *const prefixes[] = {"$ss", "$sSc", "$s10Foundation", "$s20FoundationEssentials", "$s8Dispatch",
                                         "$s12_Concurrency", "$s17_StringProcessing", "$s16_RegexParser"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (undead_starts_with(name, prefixes[i])) return true;
  return false;
}

static bool is_swift_of_program(uintptr_t address, bool called_swift_allocator) {
  const undead_module *module = undead_module_of(address);
  if (!module || module->toolchain) return false;
  uintptr_t start;
  const char *name = undead_symbol_name(address, &start);
  if (!name[0]) return called_swift_allocator;
  // Top-level code of a Swift program is in `main`.
  if (!strcmp(name, "main")) return called_swift_allocator || undead_symbol_address(module, "__swift_reflection_version", NULL);
  return (undead_starts_with(name, "$s") || undead_starts_with(name, "$S")) && !is_of_toolchain(name);
}

// Code of the toolchain that is linked into a program.
static bool is_runtime_function(const char *name) {
  static const char *const prefixes[] = {"swift_", "_swift_", "dispatch_", "_dispatch_", "_CF", "__CF"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (undead_starts_with(name, prefixes[i])) return true;
  return (undead_starts_with(name, "_Z") && strstr(name, "5swift")) || is_of_toolchain(name);
}

// What these take they keep for themselves, and lose only what they mean to: caches, continuations, dead threads' tables.
static bool is_of_runtime(uintptr_t address, const undead_module *module) {
  static const char *const libraries[] = {"libFoundation", "lib_Foundation", "libdispatch.", "libBlocksRuntime.",
                                          "libXCTest.", "libTesting.", "lib_Testing", "lib_Internal", "ld-linux",
                                          "libUndeadPreload."};
  const char *file = undead_file_name(module->path);
  if (undead_starts_with(file, "libswift") && module->toolchain) return true;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (undead_starts_with(file, libraries[i])) return true;
  uintptr_t start;
  return !module->toolchain && is_runtime_function(undead_symbol_name(address, &start));
}

// What these take is their callers'.
static bool is_helper(const undead_module *module) {
  static const char *const libraries[] = {"libc.so", "libpthread.so", "libstdc++.", "libgcc_s.", "libc++", "libm.so"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (undead_starts_with(undead_file_name(module->path), libraries[i])) return true;
  return false;
}

static owner owner_of(uint32_t backtrace) {
  uintptr_t frames[MAX_FRAMES];
  uint32_t count = undead_backtrace_frames(backtrace, frames, MAX_FRAMES), i = 0;
  bool called_swift_allocator = false;
  for (uintptr_t start; i < count; i++)
    if (!is_allocator(undead_symbol_name(frames[i] - 1, &start), &called_swift_allocator)) break;
  if (i < count && is_swift_of_program(frames[i] - 1, called_swift_allocator)) return OF_SWIFT_CODE;
  for (; i < count; i++) {
    const undead_module *module = undead_module_of(frames[i] - 1);
    if (module && is_helper(module)) continue;
    return module && is_of_runtime(frames[i] - 1, module) ? OF_TOOLCHAIN : OF_C_CODE;
  }
  // Of the C library itself, or of nobody who is known.
  return OF_TOOLCHAIN;
}

bool undead_graph_is_raw_of_swift(uint32_t backtrace) { return owner_of(backtrace) == OF_SWIFT_CODE; }

// Owners by backtrace: blocks from the same place are many.
typedef struct {
  uint64_t key;     // backtrace << 2 | owner + 1; 0 is free
  uint64_t bytes;   // of blocks that are counted, and not listed
} owner_slot;

typedef struct {
  owner_slot *slots;
  uint32_t size;
} owners;

static owner_slot *slot_of_owner(owners *known, uint32_t backtrace) {
  uint32_t slot = undead_spread32(backtrace) & (known->size - 1);
  for (; known->slots[slot].key; slot = (slot + 1) & (known->size - 1))
    if (known->slots[slot].key >> 2 == backtrace) return &known->slots[slot];
  known->slots[slot].key = (uint64_t)backtrace << 2 | ((uint64_t)owner_of(backtrace) + 1);
  return &known->slots[slot];
}

static owner owner_in(const owner_slot *slot) { return (owner)((slot->key & 3) - 1); }
static owner known_owner(owners *known, uint32_t backtrace) { return owner_in(slot_of_owner(known, backtrace)); }

static bool open_owners(owners *known, const undead_scan_result *result) {
  uint32_t undecided = 0;
  for (uint32_t i = 0; i < result->node_count; i++) undecided += result->nodes[i].state == UNDEAD_STATE_UNDECIDED;
  known->size = 64;
  while (known->size < (uint64_t)undecided * 2) known->size *= 2;
  known->slots = undead_map(known->size * sizeof *known->slots);
  return known->slots;
}

static void decide_raw(undead_scan_result *result, owners *known) {
  for (uint32_t i = 0; i < result->node_count; i++) {
    undead_node *node = &result->nodes[i];
    if (node->state == UNDEAD_STATE_UNDECIDED && known_owner(known, node->backtrace) == OF_SWIFT_CODE)
      node->state = UNDEAD_STATE_RAW;
  }
}

// The references from undecided blocks: the rest, mostly all, can change no state.
typedef struct {
  uint32_t *edges, count;
} open_edges;

static bool is_open(const undead_scan_result *result, uint32_t edge) {
  return result->nodes[result->edges[edge].from].state == UNDEAD_STATE_UNDECIDED;
}

static bool list_open_edges(const undead_scan_result *result, open_edges *open) {
  *open = (open_edges){0};
  for (uint32_t i = 0; i < result->edge_count; i++) open->count += is_open(result, i);
  if (!open->count) return true;
  open->edges = undead_map(open->count * sizeof *open->edges);
  if (!open->edges) return false;
  for (uint32_t i = 0, at = 0; i < result->edge_count; i++)
    if (is_open(result, i)) open->edges[at++] = i;
  return true;
}

// Undecided blocks from which a leaked one can be reached, by walking the references from them backwards.
static bool walk_back(undead_scan_result *result, const open_edges *open) {
  uint32_t nodes = result->node_count, waiting = 0;
  size_t bytes = ((size_t)nodes * 2 + 1 + open->count) * sizeof(uint32_t);
  uint32_t *first = undead_map(bytes), *sources = first + nodes + 1, *queue = sources + open->count;
  if (!first) return false;
  for (uint32_t i = 0; i < open->count; i++) first[result->edges[open->edges[i]].to + 1]++;
  for (uint32_t i = 0; i < nodes; i++) first[i + 1] += first[i];
  for (uint32_t i = open->count; i-- > 0;) {
    const undead_edge *edge = &result->edges[open->edges[i]];
    sources[--first[edge->to + 1]] = edge->from;
  }
  // Each entry now starts its own list: shifted by one, it starts the list of the node before.
  for (uint32_t i = 0; i < nodes; i++) {
    uint8_t state = result->nodes[i].state;
    if (state == UNDEAD_STATE_LEAKED || state == UNDEAD_STATE_RAW) queue[waiting++] = i;
  }
  for (uint32_t done = 0; done < waiting; done++) {
    uint32_t node = queue[done], end = node + 1 < nodes ? first[node + 2] : open->count;
    for (uint32_t k = first[node + 1]; k < end; k++) {
      undead_node *source = &result->nodes[sources[k]];
      if (source->state != UNDEAD_STATE_UNDECIDED) continue;
      source->state = UNDEAD_STATE_SUPPORT;
      queue[waiting++] = sources[k];
    }
  }
  undead_unmap(first, bytes);
  return true;
}

static bool decide_support(undead_scan_result *result) {
  open_edges open;
  if (!list_open_edges(result, &open)) return false;
  bool ok = !open.count || walk_back(result, &open);
  if (open.edges) undead_unmap(open.edges, open.count * sizeof *open.edges);
  return ok;
}

// Blocks that stay undecided are counted: those of C code, and the toolchain's own.
static void count_undecided(undead_scan_result *result, const undead_node *node, owners *known) {
  owner_slot *slot = slot_of_owner(known, node->backtrace);
  bool of_c = owner_in(slot) == OF_C_CODE;
  slot->bytes += node->size;
  *(of_c ? &result->unreachable_c_blocks : &result->unreachable_own_blocks) += 1;
  *(of_c ? &result->unreachable_c_bytes : &result->unreachable_own_bytes) += node->size;
  if (!of_c && node->isa == UNDEAD_MISUSE_MESSAGE) result->unreachable_messages += node->size;
}

// The names of the functions that made the most of the toolchain's own, without those of the C library.
static void name_most(undead_scan_result *result, const owners *known) {
  const owner_slot *most = NULL;
  for (uint32_t i = 0; i < known->size; i++) {
    const owner_slot *slot = &known->slots[i];
    if (slot->key && owner_in(slot) == OF_TOOLCHAIN && slot->bytes && (!most || slot->bytes > most->bytes)) most = slot;
  }
  if (!most) return;
  uintptr_t frames[MAX_FRAMES];
  uint32_t count = undead_backtrace_frames((uint32_t)(most->key >> 2), frames, MAX_FRAMES), named = 0;
  size_t used = 0;
  result->unreachable_own_most = most->bytes;
  for (uint32_t i = 0; i < count && named < MOST_NAMES; i++) {
    const undead_module *module = undead_module_of(frames[i] - 1);
    uintptr_t start;
    const char *name = undead_symbol_name(frames[i] - 1, &start);
    size_t length = strlen(name);
    if (!length || !module || is_helper(module) || used + length + 2 > sizeof result->unreachable_own_site) continue;
    if (named++) result->unreachable_own_site[used++] = ' ';
    memcpy(result->unreachable_own_site + used, name, length + 1);
    used += length;
  }
}

static void renumber(undead_scan_result *result, owners *known, uint32_t *node_to, uint32_t *edge_to) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < result->node_count; i++) {
    const undead_node *node = &result->nodes[i];
    if (node->state == UNDEAD_STATE_UNDECIDED) {
      count_undecided(result, node, known);
      node_to[i] = UINT32_MAX;
      continue;
    }
    node_to[i] = kept;
    result->nodes[kept++] = *node;
  }
  result->node_count = kept;
  uint32_t kept_edges = 0;
  for (uint32_t i = 0; i < result->edge_count; i++) {
    undead_edge edge = result->edges[i];
    edge.from = node_to[edge.from];
    edge.to = node_to[edge.to];
    edge_to[i] = kept_edges;
    if (edge.from != UINT32_MAX && edge.to != UINT32_MAX) result->edges[kept_edges++] = edge;
  }
  result->edge_count = kept_edges;
}

// Paths, suspects and what was asked for by the new numbers.
static void renumber_findings(undead_scan_result *result, const uint32_t *node_to, const uint32_t *edge_to) {
  for (uint32_t i = 0; i < result->path_count; i++) {
    result->paths[i].first_node = node_to[result->paths[i].first_node];
    result->paths[i].end_node = node_to[result->paths[i].end_node];
  }
  for (uint32_t i = 0; i < result->step_count; i++) result->steps[i] = edge_to[result->steps[i]];
  for (uint32_t i = 0; i < result->suspect_count; i++) {
    result->suspects[i].node = node_to[result->suspects[i].node];
    if (result->suspects[i].mechanism != UINT32_MAX) result->suspects[i].mechanism = node_to[result->suspects[i].mechanism];
  }
  for (uint32_t i = 0; i < result->watched_count; i++)
    if (result->watched[i].node != UINT32_MAX) result->watched[i].node = node_to[result->watched[i].node];
  for (uint32_t i = 0; i < result->item_count; i++)
    if (result->item_nodes[i] != UINT32_MAX) result->item_nodes[i] = node_to[result->item_nodes[i]];
}

static bool decide(undead_scan_result *result, owners *known) {
  decide_raw(result, known);
  if (!decide_support(result)) return false;
  size_t bytes = ((size_t)result->node_count + result->edge_count + 1) * sizeof(uint32_t);
  uint32_t *node_to = undead_map(bytes), *edge_to = node_to + result->node_count;
  if (!node_to) return false;
  renumber(result, known, node_to, edge_to);
  renumber_findings(result, node_to, edge_to);
  name_most(result, known);
  undead_unmap(node_to, bytes);
  return true;
}

bool undead_collect_decide(undead_storage *storage) {
  owners known;
  if (!open_owners(&known, &storage->result)) return false;
  bool done = decide(&storage->result, &known);
  undead_unmap(known.slots, known.size * sizeof *known.slots);
  return done;
}
