// Finds images by _dl_find_object, and remembers those that it found until undead_images_forget: what was learned of their
// code must go with them. Without that function (glibc before 2.35) the loader's list is walked, and what is remembered also
// answers, since a walk costs a hundred times as much.
#include "unwind/rules/images.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
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
static uintptr_t foreign_places[FOREIGN_LIMIT];
static uint32_t foreign_count;
static uintptr_t loader_low, loader_high;

static seen_image seen_of(const undead_image *image) {
  return (seen_image){image->low, image->high, (uintptr_t)image->link_map, (uintptr_t)image->eh_frame_hdr};
}

typedef struct {
  uintptr_t pc;
  seen_image *image;
} wanted_image;

static bool is_wanted(void *context, const undead_image *image) {
  wanted_image *wanted = context;
  if (wanted->pc - image->low >= image->high - image->low) return false;
  *wanted->image = seen_of(image);
  return true;
}

static bool find_image(uintptr_t pc, seen_image *image) {
  undead_found_object found;
  undead_find_object_function find_object = undead_find_object();
  if (!find_object) return undead_link_map_each(is_wanted, &(wanted_image){pc, image});
  if (find_object((void *)pc, &found) != 0) return false;
  image->low = (uintptr_t)found.map_start;
  image->high = (uintptr_t)found.map_end;
  image->link_map = (uintptr_t)found.link_map;
  image->eh_frame_hdr = (uintptr_t)found.eh_frame;
  return true;
}

// False if the image was not met before.
static bool find_seen(uintptr_t pc, seen_image *image) {
  uint32_t count = __atomic_load_n(&seen_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count && index < IMAGE_LIMIT; index++) {
    uintptr_t low = __atomic_load_n(&seen[index].low, __ATOMIC_ACQUIRE);
    *image = (seen_image){low, seen[index].high, seen[index].link_map, seen[index].eh_frame_hdr};
    bool is_same = __atomic_load_n(&seen[index].low, __ATOMIC_ACQUIRE) == low;
    if (low && is_same && pc - low < image->high - low) return true;
  }
  return false;
}

static void remember_image(const seen_image *image) {
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
  bool is_seen = !undead_find_object() && find_seen(pc, &found);
  if (!is_seen && !find_image(pc, &found)) return false;
  if (!is_seen) remember_image(&found);
  *image = (undead_image){found.low, found.high, (const uint8_t *)found.eh_frame_hdr, (const void *)found.link_map};
  return true;
}

void undead_image_note_foreign(uintptr_t pc) {
  uintptr_t page = undead_page_of(pc);
  uint32_t count = __atomic_load_n(&foreign_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count && index < FOREIGN_LIMIT; index++)
    if (__atomic_load_n(&foreign_places[index], __ATOMIC_ACQUIRE) == page) return;
  uint32_t index = __atomic_fetch_add(&foreign_count, 1, __ATOMIC_ACQ_REL);
  if (index < FOREIGN_LIMIT) __atomic_store_n(&foreign_places[index], page, __ATOMIC_RELEASE);
}

static void find_loader(void) {
  int saved = errno;
  seen_image loader;
  uintptr_t base = getauxval(AT_BASE);
  bool known = base && find_image(base, &loader);
  errno = saved;
  // An empty range that is not zero, so that a program without a loader does not search again.
  __atomic_store_n(&loader_low, known ? loader.low : 1, __ATOMIC_RELAXED);
  __atomic_store_n(&loader_high, known ? loader.high : 1, __ATOMIC_RELEASE);
}

bool undead_is_loader(uintptr_t pc) {
  if (__builtin_expect(!__atomic_load_n(&loader_high, __ATOMIC_ACQUIRE), 0)) find_loader();
  return pc - loader_low < loader_high - loader_low;
}

// Without _dl_find_object the entry of the list that it had is asked, instead of all of them.
static bool find_again(const seen_image *image, uintptr_t low, seen_image *now) {
  if (undead_find_object()) return find_image(low, now);
  undead_image read;
  if (!undead_link_map_read((const void *)image->link_map, &read)) return false;
  *now = seen_of(&read);
  return true;
}

static bool is_gone(const seen_image *image, uintptr_t low) {
  seen_image now;
  return !find_again(image, low, &now) || now.low != low || now.high != image->high || now.link_map != image->link_map ||
         now.eh_frame_hdr != image->eh_frame_hdr;
}

static bool has_foreign_code(void *context, const undead_image *image) {
  uint32_t count = *(const uint32_t *)context;
  for (uint32_t index = 0; index < count; index++) {
    uintptr_t page = __atomic_load_n(&foreign_places[index], __ATOMIC_ACQUIRE);
    if (page && page - image->low < image->high - image->low) return true;
  }
  return false;
}

static bool is_foreign_no_more(void) {
  uint32_t count = __atomic_load_n(&foreign_count, __ATOMIC_ACQUIRE);
  if (count > FOREIGN_LIMIT) return true;
  if (count && !undead_find_object()) return undead_link_map_each(has_foreign_code, &count);
  for (uint32_t index = 0; index < count; index++) {
    seen_image now;
    uintptr_t page = __atomic_load_n(&foreign_places[index], __ATOMIC_ACQUIRE);
    if (page && find_image(page, &now)) return true;
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
  for (uint32_t index = 0; index < FOREIGN_LIMIT; index++) __atomic_store_n(&foreign_places[index], 0, __ATOMIC_RELEASE);
  __atomic_store_n(&foreign_count, 0, __ATOMIC_RELEASE);
}
