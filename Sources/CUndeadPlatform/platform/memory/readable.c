#include "platform/memory/readable.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include <string.h>

__thread undead_read_proof undead_thread_proof __attribute__((tls_model("initial-exec")));

void undead_ask_kernel_begin(void) {
  memset(&undead_thread_proof, 0, sizeof undead_thread_proof);
  undead_thread_proof.asks = true;
}

void undead_ask_kernel_end(void) { undead_thread_proof.asks = false; }

static bool is_known(uintptr_t page) {
  for (uint32_t i = 0; i < UNDEAD_KNOWN_PAGES; i++)
    if (undead_thread_proof.not_pages[i] == ~page) return true;
  return false;
}

static bool can_read_page(uintptr_t page) {
  undead_read_proof *proof = &undead_thread_proof;
  if (!page) return false;
  if (is_known(page)) return true;
  if (!undead_page_is_readable(page)) return false;
  proof->not_pages[proof->next++ % UNDEAD_KNOWN_PAGES] = ~page;
  return true;
}

size_t undead_kernel_readable_bytes(uintptr_t address, size_t most) {
  uintptr_t page = undead_page_of(address), end = address + most < address ? UINTPTR_MAX : address + most;
  while (page < end && can_read_page(page)) page += UNDEAD_PAGE;
  uintptr_t reached = page < end ? page : end;
  return reached > address ? reached - address : 0;
}

bool undead_kernel_lets_read(uintptr_t address, size_t size) {
  size_t needed = size ? size : 1;
  return undead_kernel_readable_bytes(address, needed) == needed;
}
