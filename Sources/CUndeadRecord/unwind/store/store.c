#include "unwind/store/store.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/reserve.h"
#include "platform/memory/spread.h"
#include <assert.h>
#include <sys/resource.h>

uint32_t *undead_trie;
uint32_t undead_backtrace_none = UNDEAD_TRIE_ROOT;

// A list of siblings longer than this goes on in a fan: the parent, and the heads of sixteen lists, distinguished by four
// bits of the hash. A scope has hundreds of children, each of which is looked for: they are in a larger fan from the beginning.
#define LIST_LIMIT 6u
#define FAN_BITS 4u
#define SCOPE_FAN_BITS 6u
#define NODE_WORDS (sizeof(undead_trie_node) / sizeof(uint32_t))
#define RUN_NODE_WORDS (NODE_WORDS - 1)
#define HASH_BITS 32u

#define MOST_BYTES (1ull << 29)   // the ids have room for no more (record/registry.h)
#define LEAST_BYTES (1ull << 16)
static undead_reserve reserve;
#define FIRST_WORD (UNDEAD_TRIE_SCOPES + NODE_WORDS)
_Static_assert(UNDEAD_TRIE_SCOPES == UNDEAD_TRIE_RUNS + NODE_WORDS, "the roots lie one behind the other");
// Each new node changes it: no cache line that the hooks read may be near.
static struct {
  _Alignas(64) uint32_t next_word;
  uint8_t rest[60];
} used = {.next_word = FIRST_WORD};

// Under a limit of the address space most of it belongs to the program.
static uint64_t share_of(uint64_t limit, uint64_t part) {
  return limit == RLIM_INFINITY || limit / part > MOST_BYTES ? MOST_BYTES : limit / part;
}

bool undead_store_prepare(void) {
  if (__atomic_load_n(&undead_trie, __ATOMIC_ACQUIRE)) return true;
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) limit.rlim_cur = RLIM_INFINITY;
  if (!undead_reserve_open(&reserve, share_of(limit.rlim_cur, 16), LEAST_BYTES)) return false;
  if (!undead_reserve_grow(&reserve, LEAST_BYTES)) return false;
  __atomic_store_n(&undead_trie, (uint32_t *)reserve.base, __ATOMIC_RELEASE);
  return true;
}

void undead_store_limit(uint64_t limit) { undead_reserve_trim(&reserve, share_of(limit, 64)); }

void undead_store_clear(void) {
  undead_reserve_clear(&reserve);
  __atomic_store_n(&used.next_word, FIRST_WORD, __ATOMIC_RELEASE);
  __atomic_store_n(&undead_backtrace_none, UNDEAD_TRIE_ROOT, __ATOMIC_RELEASE);
}

uint32_t undead_store_count(void) { return __atomic_load_n(&used.next_word, __ATOMIC_ACQUIRE); }

// While there is one thread only a signal handler can come between, and the instruction is enough without its lock, which costs
// more than all else here. malloc trusts the same variable.
static inline bool exchange(uint32_t *word, uint32_t *expected, uint32_t value) {
  if (undead_is_single_threaded()) {
    bool done;
    __asm__ volatile("cmpxchgl %3, %1" : "=@ccz"(done), "+m"(*word), "+a"(*expected) : "r"(value) : "memory");
    return done;
  }
  return __atomic_compare_exchange_n(word, expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static uint32_t take_words(uint32_t count) {
  uint32_t first = __atomic_load_n(&used.next_word, __ATOMIC_RELAXED);
  do {
    size_t bytes = ((size_t)first + count) * sizeof(uint32_t);
    if (__builtin_expect(bytes > undead_reserve_usable(&reserve), 0) && !undead_reserve_grow(&reserve, bytes)) return 0;
  } while (!exchange(&used.next_word, &first, first + count));
  return first;
}

static uint32_t hash(uint32_t pc_index) {
  uint32_t mixed = undead_spread32(pc_index);
  return mixed ^ (mixed >> 15);
}

uint32_t undead_store_parent(uint32_t id) {
  for (;;) {
    uint32_t next = __atomic_load_n(&undead_trie_at(id)->sibling, __ATOMIC_ACQUIRE);
    if (next & UNDEAD_FAN_BIT) return undead_trie[next & ~UNDEAD_FAN_BIT];
    if (next & UNDEAD_PARENT_BIT || !next) return next & ~UNDEAD_PARENT_BIT;
    id = next;
  }
}

static bool is_end(uint32_t link) { return !link || link & UNDEAD_PARENT_BIT; }

static uint32_t make_fan(uint32_t parent, uint32_t bits) {
  uint32_t fan = take_words(1 + (1u << bits));
  if (!fan) return 0;
  undead_trie[fan] = parent;   // the rest is 0 already
  return fan | UNDEAD_FAN_BIT;
}

#define IN_SCOPE (UNDEAD_RUN_BIT | UNDEAD_SCOPE_BIT)

static bool is_scope(uint32_t node) { return (undead_trie_at(node)->pc_index & IN_SCOPE) == UNDEAD_SCOPE_BIT; }

// A node for each key below that of the one before, the first below `parent`; nobody else sees them yet.
static uint32_t make_path(uint32_t parent, const uint32_t *keys, uint32_t count, uint32_t *nodes) {
  uint32_t words = count * (uint32_t)NODE_WORDS;
  if (keys[count - 1] & UNDEAD_RUN_BIT) words -= (uint32_t)(NODE_WORDS - RUN_NODE_WORDS);
  uint32_t first = take_words(words), node = first;
  if (!first) return 0;
  for (uint32_t index = 0;; index++) {
    undead_trie_at(node)->pc_index = keys[index];
    undead_trie_at(node)->sibling = parent | UNDEAD_PARENT_BIT;
    nodes[index] = node;
    if (index + 1 == count) return first;
    parent = node;
    node += (uint32_t)NODE_WORDS;
    undead_trie_at(parent)->child = node;
  }
}

// What is new comes in place of the end of a list, in one step. Lists only grow at the end, so a thread that fails finds
// what the other thread added, and no child is ever there twice.
uint32_t undead_store_path(uint32_t parent, const uint32_t *keys, uint32_t count, uint32_t *nodes) {
  uint32_t *link = &undead_trie_at(parent)->child;
  uint32_t bits = hash(keys[0]), length = 0, shift = 0;
  bool first_of_scope = is_scope(parent);
  for (;;) {
    uint32_t value = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    // At ends alone: asked of each node on the way, a debug build would walk each list as often as it has nodes.
    assert(!(value & UNDEAD_PARENT_BIT) || value & UNDEAD_FAN_BIT || (value & ~UNDEAD_PARENT_BIT) == parent);
    if (is_end(value)) {
      bool fan = first_of_scope || (length >= LIST_LIMIT && shift < HASH_BITS);
      uint32_t fresh = fan ? make_fan(parent, first_of_scope ? SCOPE_FAN_BITS : FAN_BITS) : make_path(parent, keys, count, nodes);
      if (!fresh) return 0;
      bool mine = exchange(link, &value, fresh);
      if (mine && !fan) return count;
      if (mine) value = fresh;
    }
    if (value & UNDEAD_FAN_BIT) {
      assert(undead_trie[value & ~UNDEAD_FAN_BIT] == parent);
      uint32_t *heads = &undead_trie[(value & ~UNDEAD_FAN_BIT) + 1];
      uint32_t width = first_of_scope ? SCOPE_FAN_BITS : FAN_BITS;
      link = &heads[bits >> shift & ((1u << width) - 1)];
      shift += width;
      first_of_scope = false;
      length = 0;
      continue;
    }
    if (undead_trie_at(value)->pc_index == keys[0]) {
      nodes[0] = value;
      return 1;
    }
    link = &undead_trie_at(value)->sibling;
    length++;
  }
}

uint32_t undead_store_child_slow(uint32_t parent, uint32_t pc_index) {
  uint32_t node;
  return undead_store_path(parent, &pc_index, 1, &node) ? node : 0;
}

uint32_t undead_store_runs(void) {
  uint32_t none = __atomic_load_n(&undead_backtrace_none, __ATOMIC_ACQUIRE);
  return none == UNDEAD_TRIE_ROOT ? UNDEAD_TRIE_RUNS : undead_trie_at(none)->pc_index & ~UNDEAD_RUN_BIT;
}

uint32_t undead_store_unscoped(uint32_t id) {
  if (id <= UNDEAD_TRIE_SCOPES) return id;
  uint32_t index = undead_trie_at(id)->pc_index;
  return (index & IN_SCOPE) == IN_SCOPE ? index & ~IN_SCOPE : id;
}

static uint32_t scope_at(uint32_t node) {
  uint32_t index = undead_trie_at(node)->pc_index;
  return (index & IN_SCOPE) == UNDEAD_SCOPE_BIT ? index & ~UNDEAD_SCOPE_BIT : 0;
}

_Static_assert(UNDEAD_SCOPED_NODES == 1u << 10, "places have ten bits of a hash");

// Nobody else has to find it: a list and its fans would cost more than all else. The words of an entry are compared, so what a
// signal handler puts there meanwhile, or another thread did before, is no wrong one.
static uint32_t unlisted_in_scope(undead_scoped_nodes *known, uint32_t scope_node, uint32_t key) {
  uint64_t mixed = undead_spread((uint64_t)scope_node << 32 | key);
  uint64_t *place = &known->nodes[mixed >> 54], found = __atomic_load_n(place, __ATOMIC_RELAXED);
  uint32_t node = (uint32_t)found, mark = (uint32_t)(mixed >> 16), end = scope_node | UNDEAD_PARENT_BIT;
  if (found >> 32 == mark && undead_trie_at(node)->pc_index == key && undead_trie_at(node)->sibling == end) return node;
  if (scope_node > known->newest) {
    known->newest = scope_node;
    known->left = UNDEAD_MOST_UNLISTED;
  }
  if (!known->left || !(node = take_words(RUN_NODE_WORDS))) return 0;
  known->left--;
  undead_trie_at(node)->pc_index = key;
  undead_trie_at(node)->sibling = end;
  __atomic_store_n(place, (uint64_t)mark << 32 | node, __ATOMIC_RELEASE);
  return node;
}

uint32_t undead_store_in_scope(uint32_t id, uint32_t scope, uint32_t *scope_node, undead_scoped_nodes *known) {
  uint32_t node = *scope_node;
  if (!node || node >= undead_store_count() || undead_trie_at(node)->pc_index != (scope | UNDEAD_SCOPE_BIT))
    *scope_node = node = undead_store_child(UNDEAD_TRIE_SCOPES, scope | UNDEAD_SCOPE_BIT);
  if (!node || id == UNDEAD_TRIE_ROOT) return node;
  uint32_t unlisted = known ? unlisted_in_scope(known, node, id | IN_SCOPE) : 0;
  return unlisted ? unlisted : undead_store_child(node, id | IN_SCOPE);
}

uint32_t undead_store_scope(uint32_t id) {
  if (id <= UNDEAD_TRIE_ROOT || !undead_trie || id >= undead_store_count()) return 0;
  uint32_t index = undead_trie_at(id)->pc_index;
  return scope_at((index & IN_SCOPE) == IN_SCOPE ? undead_store_parent(id) : id);
}

// What the run of a backtrace shows with that bit, 0 if nothing.
static uint32_t told_by_run(uint32_t id, uint32_t bit) {
  if (id <= UNDEAD_TRIE_ROOT || !undead_trie || id >= undead_store_count()) return 0;
  uint32_t run = undead_trie_at(undead_store_unscoped(id))->pc_index;
  if (!(run & UNDEAD_RUN_BIT)) return 0;
  for (run &= ~UNDEAD_RUN_BIT; run > UNDEAD_TRIE_RUNS; run = undead_store_parent(run)) {
    uint32_t index = undead_trie_at(run)->pc_index;
    if (index & bit) return index & ~bit;
  }
  return 0;
}

uint32_t undead_store_generation(uint32_t id) { return told_by_run(id, UNDEAD_GENERATION_BIT); }

uint32_t undead_store_sample_mean(uint32_t id) { return told_by_run(id, UNDEAD_SAMPLE_BIT) * UNDEAD_SAMPLE_UNIT; }

// A generation adds a node for each backtrace that is taken in it, at most as much as all before it together.
bool undead_store_has_room(void) {
  return (uint64_t)undead_store_count() * sizeof(uint32_t) < __atomic_load_n(&reserve.reserved, __ATOMIC_ACQUIRE) / 2;
}

bool undead_store_begin_generation(uint32_t number) {
  assert(number > 0 && number < UNDEAD_GENERATION_BIT);
  if (!undead_store_prepare()) return false;
  uint32_t runs = undead_store_child(UNDEAD_TRIE_RUNS, number | UNDEAD_GENERATION_BIT);
  uint32_t none = runs ? undead_store_child(UNDEAD_TRIE_ROOT, runs | UNDEAD_RUN_BIT) : 0;
  if (!none) return false;
  uint32_t newest = __atomic_load_n(&undead_backtrace_none, __ATOMIC_ACQUIRE);
  while (undead_store_generation(newest) < number &&
         !__atomic_compare_exchange_n(&undead_backtrace_none, &newest, none, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

static uint32_t runs_of(uint32_t generation) {
  return generation ? undead_store_child(UNDEAD_TRIE_RUNS, generation | UNDEAD_GENERATION_BIT) : UNDEAD_TRIE_RUNS;
}

uint32_t undead_store_none_of(uint32_t generation) {
  uint32_t runs = generation && undead_trie ? runs_of(generation) : 0;
  uint32_t none = runs ? undead_store_child(UNDEAD_TRIE_ROOT, runs | UNDEAD_RUN_BIT) : 0;
  return none ? none : UNDEAD_TRIE_ROOT;
}

// Adds a backtrace below `run`, the root of its innermost frames.
static uint32_t add_below(uint32_t run, const uint32_t *pc_indices, uint32_t count) {
  uint32_t run_length = count < UNDEAD_RUN_FRAMES ? count : UNDEAD_RUN_FRAMES, node = UNDEAD_TRIE_ROOT;
  for (uint32_t index = run_length; index > 0 && run; index--) run = undead_store_child(run, pc_indices[index - 1]);
  for (uint32_t index = count; index > run_length && node; index--)
    node = undead_store_child(node, pc_indices[index - 1]);
  return run && node ? undead_store_child(node, run | UNDEAD_RUN_BIT) : 0;
}

uint32_t undead_store_add(const uint32_t *pc_indices, uint32_t count) {
  return count ? add_below(undead_store_runs(), pc_indices, count) : undead_backtrace_none;
}

uint32_t undead_store_add_sampled(const uint32_t *pc_indices, uint32_t count, uint32_t generation, uint32_t mean) {
  uint32_t runs = runs_of(generation);
  uint32_t run = runs ? undead_store_child(runs, mean / UNDEAD_SAMPLE_UNIT | UNDEAD_SAMPLE_BIT) : 0;
  return run ? add_below(run, pc_indices, count) : 0;
}

uint32_t undead_store_run(uint32_t id) {
  if (id <= UNDEAD_TRIE_SCOPES) return 0;
  id = undead_store_unscoped(id);
  if (id <= UNDEAD_TRIE_SCOPES || !(undead_trie_at(id)->pc_index & UNDEAD_RUN_BIT)) return 0;
  uint32_t run = undead_trie_at(id)->pc_index & ~UNDEAD_RUN_BIT, frames = 0;
  for (uint32_t at = run; at > UNDEAD_TRIE_RUNS; at = undead_store_parent(at), frames++)
    if (undead_trie_at(at)->pc_index & (UNDEAD_GENERATION_BIT | UNDEAD_SAMPLE_BIT)) break;
  return frames == UNDEAD_RUN_FRAMES ? run : 0;
}

uint32_t undead_store_read(uint32_t id, uint32_t *pc_indices, uint32_t max) {
  uint32_t found = 0;
  id = undead_store_unscoped(id);
  for (; id > UNDEAD_TRIE_SCOPES && found < max; id = undead_store_parent(id)) {
    uint32_t pc_index = undead_trie_at(id)->pc_index;
    if (!(pc_index & UNDEAD_RUN_BIT)) {
      if (!(pc_index & UNDEAD_SCOPE_BIT)) pc_indices[found++] = pc_index;
      continue;
    }
    uint32_t run = pc_index & ~UNDEAD_RUN_BIT;
    for (; run > UNDEAD_TRIE_RUNS && found < max; run = undead_store_parent(run)) {
      if (undead_trie_at(run)->pc_index & (UNDEAD_GENERATION_BIT | UNDEAD_SAMPLE_BIT)) break;
      pc_indices[found++] = undead_trie_at(run)->pc_index;
    }
  }
  return found;
}
