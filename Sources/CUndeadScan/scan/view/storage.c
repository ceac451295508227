#include "scan/view/storage.h"
#include "platform/memory/memory.h"
#include "scan/census.h"

#define NODE_LIMIT (2u << 20)
#define EDGE_LIMIT (16u << 20)
#define PATH_LIMIT (1u << 16)
#define STEP_LIMIT (4u << 20)
#define SUSPECT_LIMIT (1u << 16)
#define LEAST_SHARE 64u   // of the limits, where the program may not reserve more address space

static size_t place(size_t *offset, size_t bytes) {
  size_t at = *offset;
  *offset = (at + bytes + 63) & ~(size_t)63;
  return at;
}

undead_storage *undead_storage_open(const undead_scan_options *options) {
  for (uint32_t share = 1; share <= LEAST_SHARE; share *= 4) {
    uint32_t nodes = NODE_LIMIT / share, edges = EDGE_LIMIT / share, paths = PATH_LIMIT / share;
    uint32_t steps = STEP_LIMIT / share, suspects = SUSPECT_LIMIT / share;
    size_t size = 0;
    place(&size, sizeof(undead_storage));
    size_t node_at = place(&size, nodes * sizeof(undead_node)), edge_at = place(&size, edges * sizeof(undead_edge));
    size_t path_at = place(&size, paths * sizeof(undead_path)), step_at = place(&size, steps * sizeof(uint32_t));
    size_t suspect_at = place(&size, suspects * sizeof(undead_suspect));
    size_t watched_at = place(&size, options->watched_count * sizeof(undead_watched));
    size_t item_at = place(&size, options->loop_item_count * sizeof(uint32_t));
    char *memory = options->mode == UNDEAD_SCAN_FORK ? undead_map_shared(size) : undead_map(size);
    if (!memory) continue;
    undead_storage *storage = (undead_storage *)memory;
    storage->mapped = size;
    storage->node_limit = nodes;
    storage->edge_limit = edges;
    storage->path_limit = paths;
    storage->step_limit = steps;
    storage->suspect_limit = suspects;
    storage->result.nodes = (undead_node *)(memory + node_at);
    storage->result.edges = (undead_edge *)(memory + edge_at);
    storage->result.paths = (undead_path *)(memory + path_at);
    storage->result.steps = (uint32_t *)(memory + step_at);
    storage->result.suspects = (undead_suspect *)(memory + suspect_at);
    storage->result.watched = (undead_watched *)(memory + watched_at);
    storage->result.item_nodes = (uint32_t *)(memory + item_at);
    return storage;
  }
  return NULL;
}

void undead_storage_clear(undead_storage *storage, const undead_scan_options *options) {
  undead_scan_result *result = &storage->result;
  result->node_count = result->edge_count = result->path_count = result->step_count = result->suspect_count = 0;
  result->watched_count = result->item_count = result->thread_scope_count = 0;
  result->live_blocks = result->live_bytes = result->dropped_nodes = 0;
  result->unreachable_c_blocks = result->unreachable_c_bytes = 0;
  result->unreachable_own_blocks = result->unreachable_own_bytes = result->unreachable_own_most = 0;
  result->unreachable_messages = 0;
  result->unreachable_own_site[0] = 0;
  result->error = 0;
  result->message[0] = 0;
  if (options->census) undead_census_clear(options->census);
}

void undead_storage_close(undead_storage *storage) { undead_unmap(storage, storage->mapped); }
