#include "record/attached.h"
#include "record/claims.h"
#include "record/registry.h"
#include "record/sample.h"
#include "unwind/backtrace.h"
#include "unwind/capture/cache_pool.h"
#include "unwind/pc_table.h"
#include "unwind/store/store.h"

void undead_record_forget_all(void) {
  undead_claims_forget();
  undead_registry_clear();
  undead_sample_forget_all();
  undead_cache_pool_clear();
  undead_store_clear();
  undead_pc_table_clear();
  // All copies of rules and of ids of nodes become void.
  undead_backtrace_forget_images();
}
