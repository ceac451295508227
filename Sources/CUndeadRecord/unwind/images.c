#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "unwind/images.h"
#include <dlfcn.h>
#include "platform/maps.h"
#include "platform/own_data.h"
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#define IMAGE_LIMIT 1024

typedef struct {
  uintptr_t low, high, link_map, eh_frame_hdr;
} seen_image;

// Append-only between two calls of undead_images_forget; `low` is written last.
static seen_image seen[IMAGE_LIMIT];
static uint32_t seen_count;
// Pages of code that belongs to no image, likewise.
#define FOREIGN_LIMIT 256u
static uintptr_t foreign[FOREIGN_LIMIT];
static uint32_t foreign_count;
static uintptr_t loader_low, loader_high;

static bool find(uintptr_t pc, seen_image *image) {
  struct dl_find_object found;
  if (_dl_find_object((void *)pc, &found) != 0) return false;
  image->low = (uintptr_t)found.dlfo_map_start;
  image->high = (uintptr_t)found.dlfo_map_end;
  image->link_map = (uintptr_t)found.dlfo_link_map;
  image->eh_frame_hdr = (uintptr_t)found.dlfo_eh_frame;
  return true;
}

static void remember(const seen_image *image) {
  uint32_t count = __atomic_load_n(&seen_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count && index < IMAGE_LIMIT; index++)
    if (__atomic_load_n(&seen[index].low, __ATOMIC_ACQUIRE) == image->low) return;
  // Two threads may add the same image: harmless. Beyond the limit "changed" is always answered with yes.
  uint32_t index = __atomic_fetch_add(&seen_count, 1, __ATOMIC_ACQ_REL);
  if (index >= IMAGE_LIMIT) return;
  seen[index].high = image->high;
  seen[index].link_map = image->link_map;
  seen[index].eh_frame_hdr = image->eh_frame_hdr;
  __atomic_store_n(&seen[index].low, image->low, __ATOMIC_RELEASE);
}

bool undead_image_find(uintptr_t pc, undead_image *image) {
  seen_image found;
  if (!find(pc, &found)) return false;
  remember(&found);
  *image = (undead_image){found.low, found.high, (const uint8_t *)found.eh_frame_hdr, (const void *)found.link_map};
  return true;
}

void undead_image_note_foreign(uintptr_t pc) {
  uintptr_t page = pc & ~(uintptr_t)4095;
  uint32_t count = __atomic_load_n(&foreign_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count && index < FOREIGN_LIMIT; index++)
    if (__atomic_load_n(&foreign[index], __ATOMIC_ACQUIRE) == page) return;
  uint32_t index = __atomic_fetch_add(&foreign_count, 1, __ATOMIC_ACQ_REL);
  if (index < FOREIGN_LIMIT) __atomic_store_n(&foreign[index], page, __ATOMIC_RELEASE);
}

bool undead_image_is_toolchain(const undead_image *image) {
  const struct link_map *map = image->link_map;
  return map && map->l_name && *map->l_name && undead_is_toolchain_path(map->l_name);
}

static void find_loader(void) {
  int saved = errno;
  seen_image loader;
  uintptr_t base = getauxval(AT_BASE);
  bool known = base && find(base, &loader);
  errno = saved;
  // An empty range that is not zero, so that a program without a loader does not search again.
  __atomic_store_n(&loader_low, known ? loader.low : 1, __ATOMIC_RELAXED);
  __atomic_store_n(&loader_high, known ? loader.high : 1, __ATOMIC_RELEASE);
}

bool undead_is_loader(uintptr_t pc) {
  if (__builtin_expect(!__atomic_load_n(&loader_high, __ATOMIC_ACQUIRE), 0)) find_loader();
  return pc - loader_low < loader_high - loader_low;
}

static bool is_gone(const seen_image *image, uintptr_t low) {
  seen_image now;
  return !find(low, &now) || now.low != low || now.high != image->high || now.link_map != image->link_map ||
         now.eh_frame_hdr != image->eh_frame_hdr;
}

static bool is_foreign_no_more(void) {
  uint32_t count = __atomic_load_n(&foreign_count, __ATOMIC_ACQUIRE);
  if (count > FOREIGN_LIMIT) return true;
  for (uint32_t index = 0; index < count; index++) {
    seen_image now;
    uintptr_t page = __atomic_load_n(&foreign[index], __ATOMIC_ACQUIRE);
    if (page && find(page, &now)) return true;
  }
  return false;
}

bool undead_images_changed(void) {
  uint32_t count = __atomic_load_n(&seen_count, __ATOMIC_ACQUIRE);
  if (count > IMAGE_LIMIT) return true;
  for (uint32_t index = 0; index < count; index++) {
    uintptr_t low = __atomic_load_n(&seen[index].low, __ATOMIC_ACQUIRE);
    if (low != 0 && is_gone(&seen[index], low)) return true;
  }
  return is_foreign_no_more();
}

void undead_images_forget(void (*gone)(uintptr_t low, uintptr_t high)) {
  uint32_t count = __atomic_load_n(&seen_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count && index < IMAGE_LIMIT; index++) {
    uintptr_t low = __atomic_exchange_n(&seen[index].low, 0, __ATOMIC_ACQ_REL);
    if (low != 0 && is_gone(&seen[index], low)) gone(low, seen[index].high);
  }
  __atomic_store_n(&seen_count, 0, __ATOMIC_RELEASE);
  for (uint32_t index = 0; index < FOREIGN_LIMIT; index++) __atomic_store_n(&foreign[index], 0, __ATOMIC_RELEASE);
  __atomic_store_n(&foreign_count, 0, __ATOMIC_RELEASE);
}
#endif
