#include "platform/system/process_id.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

// On a page of its own, which is empty in a forked copy. NULL where the kernel does not do that.
static int32_t *known;

static void make_page(void) {
  static bool tried;
  if (__atomic_exchange_n(&tried, true, __ATOMIC_ACQ_REL)) return;
  int saved_errno = errno;
  int32_t *page = undead_map(PAGE_BYTES);
  if (page && madvise(page, PAGE_BYTES, MADV_WIPEONFORK) == 0) __atomic_store_n(&known, page, __ATOMIC_RELEASE);
  else if (page) undead_unmap(page, PAGE_BYTES);
  errno = saved_errno;
}

int32_t undead_process_id(void) {
  int32_t *page = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (!page) make_page();
  int32_t id = page ? __atomic_load_n(page, __ATOMIC_RELAXED) : 0;
  if (id) return id;
  id = getpid();
  if (page) __atomic_store_n(page, id, __ATOMIC_RELAXED);
  return id;
}
