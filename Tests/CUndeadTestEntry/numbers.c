#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
// Numbers of runtime/abi.h by name, for tests that hold them against the runtime.
#include "undead_test_runtime.h"
#include "runtime/abi.h"
#include <string.h>

typedef struct {
  const char *name;
  uint32_t value;
} number;

#define NUMBER(name) {#name, ABI_##name}

uint32_t undead_test_number(const char *name) {
  const number numbers[] = {
      NUMBER(FIXED_ARRAY_COUNT),
      NUMBER(FIXED_ARRAY_ELEMENT),
      NUMBER(CANARY_CONTINUATION),
      NUMBER(TASK_FIRST_SLAB),
      NUMBER(SLAB_NEXT),
      NUMBER(SLAB_CAPACITY),
      NUMBER(SLAB_USED),
      NUMBER(SLAB_HEADER),
      NUMBER(BLOCK_FLAGS),
      NUMBER(BLOCK_COUNT_MASK),
      NUMBER(BLOCK_HEADER),
      NUMBER(METHOD_KIND_MASK),
      NUMBER(METHOD_KIND_GETTER),
      NUMBER(METHOD_KIND_READ),
      NUMBER(METHOD_IS_DATA),
      NUMBER(METHOD_BYTES),
      NUMBER(TSD_TID),
      NUMBER(TSD_QUEUE),
      NUMBER(TSD_CACHE),
      NUMBER(CONTINUATION_COUNT),
      NUMBER(CONTINUATION_NEXT),
      NUMBER(CONTINUATION_FUNCTION),
      NUMBER(CONTINUATION_DATA),
      NUMBER(CONTINUATION_OTHER),
      NUMBER(CONTINUATION_BYTES),
      NUMBER(CONTINUATION_ALLOCATED),
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!strcmp(numbers[i].name, name)) return numbers[i].value;
  return UINT32_MAX;
}
#endif
