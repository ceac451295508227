// Stops threads at the calls from the main image to other ones.
#define _GNU_SOURCE
#include "stepping.h"
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STUB_BYTES = 16, GATES_BYTES = 16, MOST_THREADS = 512 };

// The gate knows its layout.
typedef struct {
  uint32_t stands;   // a futex
  uint32_t import;
  uintptr_t return_address;
  uintptr_t *slot;   // of the return address if the wait returns there
  uint64_t saved[42];
} thread_state;

extern void stepping_gate(void), swift_stepping_gate(void), stepping_resume(void);

uint32_t stepping_armed;
uintptr_t *stepping_targets;
static const char **names;
static bool *runtime_imports;
static uint32_t import_count, runtime_stride = 1, runtime_calls;
static thread_state threads[MOST_THREADS];
static uint32_t thread_count, arrivals;
static _Thread_local thread_state *own __attribute__((tls_model("initial-exec")));
static _Thread_local bool exempt __attribute__((tls_model("initial-exec")));

void stepping_call(void) {}

thread_state *stepping_own(void) { return own; }

// Called by the gate: what the thread is to wait on, NULL if it is to go on.
thread_state *stepping_arrive(uint64_t import, uintptr_t *slot) {
  if (exempt) return NULL;
  if (runtime_imports[import] && __atomic_add_fetch(&runtime_calls, 1, __ATOMIC_RELAXED) % runtime_stride) return NULL;
  if (!own) {
    uint32_t index = __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    if (index >= MOST_THREADS) abort();
    own = &threads[index];
  }
  own->import = (uint32_t)import;
  own->return_address = *slot;
  own->slot = runtime_imports[import] ? NULL : slot;
  __atomic_store_n(&own->stands, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&arrivals, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &arrivals, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  return own;
}

// Foundation and libdispatch are to the compiler what anybody's library is. Entry points of the runtime may be the
// instrument's.
static bool is_of_runtime(const char *name, uintptr_t target) {
  Dl_info info;
  if (!strncmp(name, "swift_", 6) || !dladdr((void *)target, &info)) return true;
  const char *file = strrchr(info.dli_fname, '/');
  return strstr(file ? file : info.dli_fname, "swift") && !strstr(info.dli_fname, "Foundation");
}

// The stubs lie behind the addresses of both gates.
static void write_stub(uint8_t *stubs, uint32_t index, bool runtime) {
  uint8_t *stub = stubs + index * STUB_BYTES;
  int32_t distance = (int32_t)(stubs - GATES_BYTES + (runtime ? 8 : 0) - (stub + 11));
  stub[0] = 0x68;   // push
  memcpy(stub + 1, &index, 4);
  stub[5] = 0xFF, stub[6] = 0x25;   // jmp *(gate)
  memcpy(stub + 7, &distance, 4);
}

// Functions that never come back, or come back twice, that the compiler knows, and what belongs to the test.
static bool is_left_alone(const char *name) {
  static const char *const parts[] = {"jmp", "exit", "mem", "undead_", "stepping_"};
  if (!strcmp(name, "stepping_call")) return false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(name, parts[i])) return true;
  return false;
}

static bool replace(uintptr_t base, const Elf64_Rela *relocation, const Elf64_Sym *symbols, const char *strings,
                    uint8_t *stubs) {
  uint32_t type = ELF64_R_TYPE(relocation->r_info), index = import_count;
  const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(relocation->r_info)];
  const char *name = strings + symbol->st_name;
  if (type != R_X86_64_JUMP_SLOT) return true;
  uintptr_t *slot = (uintptr_t *)(base + relocation->r_offset);
  uintptr_t target = (uintptr_t)dlsym(RTLD_DEFAULT, name);
  if (!target || is_left_alone(name)) return true;
  stepping_targets[index] = target;
  names[index] = name;
  runtime_imports[index] = is_of_runtime(name, target);
  write_stub(stubs, index, runtime_imports[index]);
  import_count++;
  uintptr_t page = (uintptr_t)slot & ~4095ul;
  if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE)) return false;
  *slot = (uintptr_t)(stubs + index * STUB_BYTES);
  return true;
}

static const void *dynamic_entry(const struct link_map *image, Elf64_Sxword tag, uintptr_t *value) {
  for (const Elf64_Dyn *entry = image->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag != tag) continue;
    if (value) *value = entry->d_un.d_val;
    return (const void *)entry->d_un.d_ptr;
  }
  return NULL;
}

bool stepping_open(void) {
  const struct link_map *image = dlopen(NULL, RTLD_LAZY);
  uintptr_t bytes = 0;
  const Elf64_Rela *relocations = image ? dynamic_entry(image, DT_JMPREL, NULL) : NULL;
  if (!relocations || !dynamic_entry(image, DT_PLTRELSZ, &bytes)) return false;
  uint32_t most = (uint32_t)(bytes / sizeof *relocations);
  stepping_targets = calloc(most, sizeof *stepping_targets);
  names = calloc(most, sizeof *names);
  runtime_imports = calloc(most, sizeof *runtime_imports);
  size_t size = most * STUB_BYTES + GATES_BYTES;
  uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  ((uintptr_t *)page)[0] = (uintptr_t)stepping_gate;
  ((uintptr_t *)page)[1] = (uintptr_t)swift_stepping_gate;
  const Elf64_Sym *symbols = dynamic_entry(image, DT_SYMTAB, NULL);
  const char *strings = dynamic_entry(image, DT_STRTAB, NULL);
  for (uint32_t i = 0; i < most; i++)
    if (!replace(image->l_addr, &relocations[i], symbols, strings, page + GATES_BYTES)) return false;
  return mprotect(page, size, PROT_READ | PROT_EXEC) == 0;
}

void stepping_arm(bool armed, uint32_t stride) {
  exempt = true;
  runtime_stride = stride ? stride : 1;
  __atomic_store_n(&stepping_armed, armed, __ATOMIC_RELEASE);
}

static uint32_t standing(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < thread_count; i++) count += __atomic_load_n(&threads[i].stands, __ATOMIC_ACQUIRE);
  return count;
}

uint32_t stepping_advance(uint32_t alive) {
  for (uint32_t i = 0; i < thread_count; i++) {
    if (!threads[i].stands) continue;
    if (threads[i].slot) *threads[i].slot = (uintptr_t)stepping_resume;
    __atomic_store_n(&threads[i].stands, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &threads[i].stands, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
  // Those that wait for others never come: a look at any time is a right one.
  struct timespec wait = {0, 10000000};
  for (int idle = 0; idle < 2 && standing() < alive;) {
    uint32_t seen = __atomic_load_n(&arrivals, __ATOMIC_ACQUIRE);
    if (standing() >= alive) break;
    long ended = syscall(SYS_futex, &arrivals, FUTEX_WAIT, seen, &wait, NULL, 0);
    idle = ended < 0 && __atomic_load_n(&arrivals, __ATOMIC_ACQUIRE) == seen ? idle + 1 : 0;
  }
  return standing();
}

bool stepping_describe(uint32_t thread, char *text, uint32_t size) {
  if (thread >= thread_count) return false;
  const thread_state *state = &threads[thread];
  Dl_info info = {0};
  dladdr((void *)state->return_address, &info);
  if (!state->stands) text[0] = 0;
  else snprintf(text, size, "%s before %#lx", names[state->import], state->return_address - (uintptr_t)info.dli_fbase);
  return true;
}
