// An oracle that knows nothing of the program: a leak is never freed, and nothing ever leads to it again. So each check compares its
// leaks with those of the checks before (the claims). A claim that is not among them was wrong then, or is wrong now:
//
//   its block is gone              deallocated unseen, or resized              UNDEAD_REFUTED_GONE
//   memory of the program leads to it                                          UNDEAD_REFUTED_REACHED
//   a stack, a register or what may be a number names it. It stays a claim     UNDEAD_REFUTED_NAMED
//   it is among them, but was retained or released                             UNDEAD_REFUTED_COUNTED
//
// What the program frees between two checks the free filter sees (claims.c). Runs on the check's thread, as the program runs.
// A weak or unowned reference outside of the leaks may bring back what it leads to, and all that this holds: a program may keep
// objects by those alone. Such claims are only counted as revived.
#include "session/check/check.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/sort.h"
#include "record/claims.h"
#include "record/mode.h"
#include "record/registry.h"
#include "runtime/layout.h"
#include "session/buffers/buffers.h"
#include <string.h>

enum {
  MOST_PATHS = 1 << 12,        // claims whose paths are asked for
  MOST_STEPS = 12,             // of a path that are named
};

static undead_watched_target *targets;   // of the check under way: those of the facts, then the claims
static size_t target_bytes;
static uint32_t asked_before;

static bool is_unreachable(const undead_node *node) {
  return node->state == UNDEAD_STATE_LEAKED || node->state == UNDEAD_STATE_RAW || node->state == UNDEAD_STATE_SUPPORT;
}

void undead_refute_prepare(undead_check *check) {
  uint32_t count, claims;
  undead_claim *list = undead_claims_list(&claims);
  asked_before = count = check->options.watched_count;
  uint32_t most = claims < MOST_PATHS ? claims : MOST_PATHS;
  target_bytes = (count + most) * sizeof *targets;
  targets = most ? undead_map(target_bytes) : NULL;
  if (!targets) return;
  if (count) memcpy(targets, check->options.watched, count * sizeof *targets);
  for (uint32_t i = 0; i < most; i++) {
    uintptr_t block = __atomic_load_n(&list[i].block, __ATOMIC_RELAXED);
    if (block) targets[count++] = (undead_watched_target){.object = block, .any_block = true};
  }
  check->options.watched = targets;
  check->options.watched_count = count;
}

// MARK: Comparing

static const undead_node *node_at(const undead_scan_result *result, uintptr_t block) {
  size_t place = undead_place_of(result->nodes, result->node_count, sizeof *result->nodes, block);
  return place < result->node_count ? &result->nodes[place] : NULL;
}

// Not if sampled blocks have no words while the program runs.
static bool is_same_block(const undead_claim *claim, uintptr_t block) {
  if (undead_record_mode == UNDEAD_RECORD_SAMPLED) return undead_registry_knows(block);
  const uint32_t *word = undead_registry_slot(block);
  return word && (__atomic_load_n(word, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE) == claim->allocation;
}

static const undead_path *path_to(const undead_scan_result *result, uintptr_t block) {
  for (uint32_t i = asked_before; i < result->watched_count; i++)
    if (targets[i].object == block) return result->watched[i].path == UINT32_MAX ? NULL : &result->paths[result->watched[i].path];
  return NULL;
}

static void add_root(undead_text *text, const undead_scan_result *result, const undead_path *path) {
  static const char *const kinds[] = {"", "global ", "stack of thread ", "variable of thread ", "register of thread ", "run loop",
                                      "", "task"};
  undead_text_add(text, kinds[path->root_kind <= UNDEAD_ROOT_TASK ? path->root_kind : 0]);
  if (path->thread) undead_text_number(text, path->thread);
  if (path->root_kind != UNDEAD_ROOT_GLOBAL) return;
  char name[256];
  undead_name_root(result, (uint32_t)(path - result->paths), name, sizeof name);
  undead_text_add(text, name);
}

static void add_node(undead_text *text, const undead_scan_result *result, uint32_t node) {
  char name[256];
  undead_name_node(result, node, name, sizeof name);
  undead_text_join(text, " -> ", name);
}

static void describe_path(const undead_scan_result *result, const undead_path *path, char *buffer, size_t size) {
  undead_text text = undead_text_in(buffer, size);
  add_root(&text, result, path);
  add_node(&text, result, path->first_node);
  for (uint32_t i = 0; i < path->step_count; i++) {
    if (i == MOST_STEPS) {
      undead_text_add(&text, " -> ...");
      return;
    }
    undead_edge_name name;
    uint32_t edge = result->steps[path->first_step + i];
    undead_name_edge(result, edge, &name);
    undead_text_join(&text, name.label[0] ? "." : "", name.label);
    add_node(&text, result, result->edges[edge].to);
  }
}

// By what may be stale, or no reference at all.
static bool is_only_named(const undead_path *path) {
  return !path || path->doubtful || path->root_kind == UNDEAD_ROOT_STACK || path->root_kind == UNDEAD_ROOT_REGISTER;
}

// Where the list of leaks is not whole, what is missing there is not known.
static void compare_unlisted(undead_claim *claim, uintptr_t block, const undead_scan_result *result) {
  undead_claim copy = *claim;
  copy.block = block;
  bool same = is_same_block(claim, block);
  if (!same && undead_claim_take(claim, block)) undead_claim_refute(&copy, UNDEAD_REFUTED_GONE, 0, NULL);
  if (!same || result->dropped_nodes) return;
  const undead_path *path = path_to(result, block);
  bool named = is_only_named(path);
  if (named && claim->refuted) return;
  char text[UNDEAD_REFUTATION_PATH_BYTES] = "";
  if (path) describe_path(result, path, text, sizeof text);
  claim->refuted = true;
  if (named || undead_claim_take(claim, block))
    undead_claim_refute(&copy, named ? UNDEAD_REFUTED_NAMED : UNDEAD_REFUTED_REACHED, 0, text);
}

static void compare_claim(undead_claim *claim, const undead_scan_result *result) {
  uintptr_t block = __atomic_load_n(&claim->block, __ATOMIC_ACQUIRE);
  if (!block) return;
  const undead_node *node = node_at(result, block);
  if (!node || !is_unreachable(node)) {
    compare_unlisted(claim, block, result);
  } else if (node->strong && claim->strong && node->strong != claim->strong) {
    undead_claim_refute(claim, UNDEAD_REFUTED_COUNTED, 0, NULL);
    claim->strong = node->strong;   // each change once
  }
}

// MARK: Remembering

typedef struct {
  const undead_scan_result *result;
  uint8_t *revivable;   // of each node
  uint32_t *waiting, *incoming;
} memory_of_check;

// The counts are those of the scan: the program goes on, and may have freed what they were read from.
// What weak and unowned references outside of what leaked lead to, and what that refers to in any way: its code runs again, and may load
// weak references of its own.
static void find_revivable(memory_of_check *self) {
  const undead_scan_result *result = self->result;
  uint32_t count = 0;
  for (uint32_t i = 0; i < result->edge_count; i++)
    if (result->edges[i].flags & UNDEAD_EDGE_WEAK && is_unreachable(&result->nodes[result->edges[i].from]))
      self->incoming[result->edges[i].to]++;
  for (uint32_t i = 0; i < result->node_count; i++) {
    if (result->nodes[i].state != UNDEAD_STATE_LEAKED || result->nodes[i].outside <= self->incoming[i]) continue;
    self->revivable[i] = 1;
    self->waiting[count++] = i;
  }
  while (count > 0) {
    uint32_t node = self->waiting[--count], low = 0, high = result->edge_count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (result->edges[middle].from < node) low = middle + 1;
      else high = middle;
    }
    for (; low < result->edge_count && result->edges[low].from == node; low++) {
      uint32_t to = result->edges[low].to;
      if (self->revivable[to]) continue;
      self->revivable[to] = 1;
      self->waiting[count++] = to;
    }
  }
}

static undead_claim claim_of(const undead_node *node, bool revivable) {
  return (undead_claim){.block = node->address, .address = node->address, .size = node->size, .isa = node->isa, .allocation = node->backtrace,
                        .check = undead_claims_checks(), .strong = node->strong, .counted = node->counted,
                        .why = node->flags & UNDEAD_NODE_CERTAINTY, .kind = node->kind, .state = node->state,
                        .revivable = revivable};
}

// What leaked, with what is known of it already; then claims that a stack names.
static uint32_t fill_claims(void *context, undead_claim *claims, uint32_t room) {
  const memory_of_check *self = context;
  uint32_t count = 0, old_count, added = 0, forgotten = 0;
  undead_claim *old = undead_claims_list(&old_count);
  for (uint32_t i = 0; i < self->result->node_count; i++) {
    const undead_node *node = &self->result->nodes[i];
    if (node->state != UNDEAD_STATE_LEAKED && node->state != UNDEAD_STATE_RAW) continue;
    if (count == room) {
      forgotten++;
      continue;
    }
    undead_claim claim = claim_of(node, self->revivable[i]), *known = undead_claim_of(node->address);
    if (!known && undead_claim_was_taken(node->address)) continue;   // freed since the scan, and counted
    if (known) {
      claim.check = known->check;
      claim.refuted = known->refuted;
    }
    added += !known;
    // Freed since the scan, before anybody looked: another block may be there by now.
    if (is_same_block(&claim, claim.block)) claims[count++] = claim;
    else undead_claim_refute(&claim, UNDEAD_REFUTED_GONE, 0, NULL);
  }
  for (uint32_t i = 0; i < old_count && count < room; i++) {
    undead_claim claim = old[i];
    const undead_node *node = claim.block && claim.refuted ? node_at(self->result, claim.block) : NULL;
    bool listed = node && is_unreachable(node);
    if (claim.block && claim.refuted && !listed) claims[count++] = claim;
  }
  undead_claims_count_new(added, forgotten);
  return count;
}

static void remember_claims(const undead_scan_result *result) {
  uint32_t claims;
  undead_claims_list(&claims);
  undead_claims_next_check();
  if (!result->node_count && !claims) return;
  size_t bytes = (result->node_count + 1ull) * (sizeof(uint8_t) + 2 * sizeof(uint32_t));
  uint32_t *memory = undead_map(bytes);
  if (!memory) return;
  memory_of_check self = {.result = result, .waiting = memory, .incoming = memory + result->node_count + 1,
                          .revivable = (uint8_t *)(memory + 2 * (result->node_count + 1ull))};
  find_revivable(&self);
  undead_claims_set(fill_claims, &self);
  undead_unmap(memory, bytes);
}

void undead_refute_compare(undead_check *check, undead_scan_result *result) {
  bool goes_on = strcmp(check->trigger, "exit") != 0 && !check->final_signal;
  uint32_t claims;
  undead_claim *list = undead_claims_list(&claims);
  if (!result->error)
    for (uint32_t i = 0; i < claims; i++) compare_claim(&list[i], result);
  if (!result->error && goes_on) remember_claims(result);
  if (!targets) return;
  if (result->watched_count > asked_before) result->watched_count = asked_before;
  undead_unmap(targets, target_bytes);
  targets = NULL;
}
