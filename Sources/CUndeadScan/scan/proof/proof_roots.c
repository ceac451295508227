#include "scan/proof/proof_graph.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "world/images.h"

void undead_proof_roots_open(undead_proof_roots *roots) { undead_numbers_refresh(&roots->numbers); }

// What libdispatch's variables lead to may only fire or wait, and libc's and the loader's hold free memory and links.
static bool is_left_out(uintptr_t address) {
  return undead_is_dispatch_data(address) || undead_is_libc_code(address);
}

static bool is_own(uintptr_t address, uintptr_t *end) {
  uintptr_t low, high;
  for (size_t i = 0; undead_own_variables(i, &low, &high); i++) {
    if (address < (low & ~7ull) || address >= high) continue;
    *end = (high + 7) & ~(uintptr_t)7;
    return true;
  }
  return false;
}

bool undead_proof_is_root(const undead_proof_roots *roots, uintptr_t place) {
  uintptr_t end;
  if (place % 8 || is_left_out(place) || is_own(place, &end)) return false;
  if (roots->numbers.sorted && undead_intervals_skip(&roots->numbers, place, &end)) return false;
  for (uint32_t i = 0; i < undead_image_facts.writable_count; i++) {
    undead_interval segment = undead_image_facts.writable[i];
    if (undead_in(segment, place) && segment.high - place >= 8) return true;
  }
  return false;
}

// Where the instrument's variables begin behind `from`, or `high`.
static uintptr_t next_own(uintptr_t from, uintptr_t high) {
  uintptr_t low, end;
  for (size_t i = 0; undead_own_variables(i, &low, &end); i++)
    if (low > from && low < high) high = low & ~(uintptr_t)7;
  return high;
}

typedef struct {
  const undead_proof_roots *roots;
  const undead_heap *heap;
  undead_proof_root_visitor visit;
  void *context;
} root_walk;

static void visit_words(const root_walk *walk, uintptr_t low, uintptr_t high) {
  const undead_heap *heap = walk->heap;
  for (uintptr_t at = low; at < high; at += 8) {
    uintptr_t value = *(const volatile uintptr_t *)at;
    if (value - heap->low >= heap->high - heap->low || !undead_heap_starts(heap, value)) continue;
    if (undead_proof_is_root(walk->roots, at)) walk->visit(walk->context, at, value);
  }
}

void undead_proof_each_root(const undead_proof_roots *roots, const undead_heap *heap, bool toolchain,
                            undead_proof_root_visitor visit, void *context) {
  const root_walk walk = {roots, heap, visit, context};
  for (uint32_t i = 0; i < undead_image_facts.writable_count; i++) {
    undead_interval segment = undead_image_facts.writable[i];
    const undead_module *module = undead_module_of(segment.low);
    if (!module || module->toolchain != toolchain) continue;
    uintptr_t high = segment.high & ~(uintptr_t)7, end;
    for (uintptr_t at = (segment.low + 7) & ~(uintptr_t)7; at < high; at = end) {
      // The tables of the instrument among its variables are large.
      if (is_own(at, &end)) continue;
      end = next_own(at, high);
      visit_words(&walk, at, end);
    }
  }
}
