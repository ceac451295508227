#include "platform/images/files.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/images/modules.h"
#include "platform/memory/own_data.h"
#include "platform/maps/segments.h"
#include "platform/system/text.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static undead_module *modules;
static size_t module_count, module_capacity;
static size_t last_hit;
uint32_t undead_modules_generation;
static bool listed;   // all images that were there
static unsigned long long loads, unloads;   // of the loader, until then

// Names of libraries that come with a toolchain wherever they lie, for programs deployed with copies of them.
static const char *const toolchain_names[] = {
  "libFoundation", "lib_Foundation", "libdispatch.", "libBlocksRuntime.", "libXCTest.", "libTesting.", "lib_Testing",
  "lib_InternalSwift", "libUndeadPreload.", "linux-vdso.", "linux-gate.", "ld-linux", "libc.so", "libm.so", "libdl.so",
  "libpthread.so", "librt.so", "libutil.so", "libresolv.so", "libstdc++.", "libgcc_s.", "libc++.", "libc++abi.",
  "libunwind.", "liblzma.", "libatomic.",
};

static bool in_directory(const char *path, const char *directory) {
  return undead_starts_with(path, directory);
}

// A library of the system is not of the program, unless it is itself written in Swift.
static bool needs_swift(const struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_STRTAB) strings = (const char *)entry->d_un.d_ptr;
    // The loader has relocated the address of the strings, except in images that it may not write to (the vDSO).
    if (!strings || (uintptr_t)strings < info->dlpi_addr) return false;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_NEEDED && undead_starts_with(strings + entry->d_un.d_val, "libswiftCore.")) return true;
  }
  return false;
}

static bool is_toolchain(const char *path, bool is_swift) {
  const char *name = undead_file_name(path);
  // "libswiftCore.so", "libswift_Concurrency.so": a lower-case letter after "libswift" is somebody's own library.
  if (undead_starts_with(name, "libswift") && !(name[8] >= 'a' && name[8] <= 'z')) return true;
  for (size_t i = 0; i < sizeof toolchain_names / sizeof *toolchain_names; i++)
    if (undead_starts_with(name, toolchain_names[i])) return true;
  if (strstr(path, "/usr/lib/swift/linux/") || strstr(path, "/usr/lib/swift/host/")) return true;
  bool system = in_directory(path, "/lib/") || in_directory(path, "/lib64/") || in_directory(path, "/usr/lib/")
    || in_directory(path, "/usr/lib64/");
  return system && !is_swift;
}

// The path in place of the loader's name for the image.
static void find_path(undead_module *module) {
  char name[sizeof module->path];
  memcpy(name, module->path, sizeof name);
  if (name[0] == '/') return;
  if (!name[0] && undead_files_are_given()) {
    snprintf(module->path, sizeof module->path, "%s", undead_given_program());
  } else if (!name[0]) {
    ssize_t length = readlink("/proc/thread-self/exe", module->path, sizeof module->path - 1);
    module->path[length > 0 ? length : 0] = 0;
  } else if (strchr(name, '/') == NULL || !undead_mapping_path(module->low, module->path, sizeof module->path)) {
    snprintf(module->path, sizeof module->path, "%s", name);
  }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  undead_segments segments = undead_segments_of(info->dlpi_phdr, info->dlpi_phnum);
  if (segments.low >= segments.high) return 0;
  if (module_count == module_capacity && !undead_grow(modules, module_capacity, 64)) return 1;
  undead_module *module = &modules[module_count];
  memset(module, 0, sizeof *module);
  module->low = info->dlpi_addr + segments.low;
  module->high = info->dlpi_addr + segments.high;
  module->bias = info->dlpi_addr;
  snprintf(module->path, sizeof module->path, "%s", info->dlpi_name ? info->dlpi_name : "");
  undead_segments_build_id(&segments, UNDEAD_NOTES_OF_IMAGE, info->dlpi_addr, NULL, NULL, module->build_id);
  module->toolchain = needs_swift(info);   // until complete() knows better
  module_count++;
  return 0;
}

// What asks others. Not while the loader's lock is held: after a crash here it would be held for good.
static void complete(undead_module *module, bool is_program) {
  find_path(module);
  module->toolchain = is_toolchain(module->path, module->toolchain) && !is_program;
}

static int same_counts(struct dl_phdr_info *info, size_t size, void *counts_follow) {
  const size_t known = offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
  bool same = size >= known && info->dlpi_adds == loads && info->dlpi_subs == unloads;
  if (size >= known && counts_follow) {
    loads = info->dlpi_adds;
    unloads = info->dlpi_subs;
  }
  return same ? 1 : 2;
}

bool undead_modules_are_current(void) {
  return listed && !undead_files_are_given() && dl_iterate_phdr(same_counts, NULL) == 1;
}

void undead_modules_outdate(void) { listed = false; }

void undead_modules_list(void) {
  int saved = errno;
  module_count = 0;
  last_hit = 0;
  undead_modules_generation++;
  // Before the list: what is loaded in between makes it an old one.
  dl_iterate_phdr(same_counts, &loads);
  listed = dl_iterate_phdr(add_module, NULL) == 0;
  for (size_t i = 0; i < module_count; i++) complete(&modules[i], i == 0);
  errno = saved;
}

size_t undead_module_count(void) { return module_count; }

const undead_module *undead_module_at(size_t index) {
  return index < module_count ? &modules[index] : NULL;
}

const undead_module *undead_module_of(uintptr_t address) {
  size_t last = __atomic_load_n(&last_hit, __ATOMIC_RELAXED);   // other threads may ask, too
  if (last < module_count && modules[last].low <= address && address < modules[last].high) return &modules[last];
  for (size_t i = 0; i < module_count; i++) {
    if (address < modules[i].low || address >= modules[i].high) continue;
    __atomic_store_n(&last_hit, i, __ATOMIC_RELAXED);
    return &modules[i];
  }
  return NULL;
}
