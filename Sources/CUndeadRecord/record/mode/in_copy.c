#include "record/attached.h"
#include "platform/memory/own_data.h"
#include "record/mode.h"
#include "record/sample.h"
#include "record/samples/samples.h"
#include "record/sparse.h"
#include "record/way.h"

static int32_t mode_of_program;

bool undead_record_in_copy(void) {
  mode_of_program = undead_record_mode;
  if (undead_sample_lock_inherited()) return false;
  if (mode_of_program == UNDEAD_RECORD_SAMPLED) {
    undead_sample_prepare();
    undead_sparse_expand();
  }
  // There are words now, and the allocator says which of them count.
  undead_sparse_used = undead_sparse_expanded = false;
  undead_record_stop();
  return true;
}

void undead_record_tell_in_copy(void) {
  if (mode_of_program > UNDEAD_RECORD_OFF) undead_record_mode = mode_of_program;
  undead_way_choose();
}
