#include "scan/bodies/references.h"

void undead_visit_body(const undead_heap *heap, uintptr_t block, const undead_body *body, bool weak,
                       undead_reference_visitor visit, void *context) {
  undead_walk_body(heap, block, body, weak, visit, context);
}

void undead_visit_root(const undead_heap *heap, const undead_root *root, undead_reference_visitor visit, void *context) {
  undead_walk_root(heap, root, visit, context);
}
