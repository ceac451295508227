#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "record/block_source.h"
#include "platform/memory/own_data.h"
#include "record/way.h"

void undead_block_source_set(undead_block_source_function source) {
  __atomic_store_n(&undead_block_source, source, __ATOMIC_SEQ_CST);
  undead_way_choose();
}
#endif
