#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "platform/seccomp.h"
#include "platform/processor.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// The value of one line of /proc/self/status, which is longer than any buffer where a process has many groups.
typedef struct {
  const char *name;
  size_t matched;      // characters of `name` seen, SIZE_MAX: not on this line
  bool found;
  uint32_t value;
} status_line;

static void feed(status_line *line, char c) {
  if (line->matched == SIZE_MAX && c != '\n') return;
  size_t length = strlen(line->name);
  if (c == '\n') line->matched = 0;
  else if (line->matched == length && c >= '0' && c <= '9') line->value = line->value * 10 + (uint32_t)(c - '0');
  else if (line->matched < length) line->matched = c == line->name[line->matched] ? line->matched + 1 : SIZE_MAX;
  if (line->matched == length) line->found = true;
}

uint32_t undead_seccomp_filters(void) {
  long file = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  status_line mode = {.name = "Seccomp:"}, count = {.name = "Seccomp_filters:"};
  char text[1024];
  for (long got; (got = undead_raw3(SYS_read, file, (long)text, sizeof text)) > 0;)
    for (long i = 0; i < got; i++) {
      feed(&mode, text[i]);
      feed(&count, text[i]);
    }
  undead_raw3(SYS_close, file, 0, 0);
  // Kernels before 5.9 do not count them.
  return mode.value == 0 ? 0 : count.found && count.value > 0 ? count.value : 1;
}

typedef struct {
  uint32_t a, x, memory[BPF_MEMWORDS];
} machine;

static bool compute(machine *self, const struct sock_filter *code) {
  uint32_t operand = BPF_SRC(code->code) == BPF_X ? self->x : code->k;
  switch (BPF_OP(code->code)) {
  case BPF_ADD: self->a += operand; return true;
  case BPF_SUB: self->a -= operand; return true;
  case BPF_MUL: self->a *= operand; return true;
  case BPF_DIV:
    if (operand) self->a /= operand;
    return operand != 0;
  case BPF_OR: self->a |= operand; return true;
  case BPF_AND: self->a &= operand; return true;
  case BPF_XOR: self->a ^= operand; return true;
  case BPF_LSH: self->a = operand < 32 ? self->a << operand : 0; return true;
  case BPF_RSH: self->a = operand < 32 ? self->a >> operand : 0; return true;
  case BPF_NEG: self->a = -self->a; return true;
  default: return false;
  }
}

// How many instructions a jump skips.
static uint32_t jump(const machine *self, const struct sock_filter *code) {
  uint32_t operand = BPF_SRC(code->code) == BPF_X ? self->x : code->k;
  switch (BPF_OP(code->code)) {
  case BPF_JA: return code->k;
  case BPF_JEQ: return self->a == operand ? code->jt : code->jf;
  case BPF_JGT: return self->a > operand ? code->jt : code->jf;
  case BPF_JGE: return self->a >= operand ? code->jt : code->jf;
  case BPF_JSET: return self->a & operand ? code->jt : code->jf;
  default: return UINT32_MAX;
  }
}

static bool load(machine *self, const struct sock_filter *code, const struct seccomp_data *call) {
  bool to_x = BPF_CLASS(code->code) == BPF_LDX;
  uint32_t *to = to_x ? &self->x : &self->a;
  switch (BPF_MODE(code->code)) {
  case BPF_IMM: *to = code->k; return true;
  case BPF_LEN: *to = sizeof *call; return true;
  case BPF_MEM:
    if (code->k < BPF_MEMWORDS) *to = self->memory[code->k];
    return code->k < BPF_MEMWORDS;
  case BPF_ABS:
    if (to_x || code->k % 4 != 0 || code->k + 4ull > sizeof *call) return false;
    memcpy(to, (const char *)call + code->k, 4);
    return true;
  default: return false;
  }
}

uint32_t undead_seccomp_run(const struct sock_filter *program, uint32_t length, const struct seccomp_data *call) {
  machine self = {0};
  for (uint64_t at = 0; at < length; at++) {
    const struct sock_filter *code = &program[at];
    bool known = true;
    switch (BPF_CLASS(code->code)) {
    case BPF_LD:
    case BPF_LDX: known = load(&self, code, call); break;
    case BPF_ST:
    case BPF_STX:
      known = code->k < BPF_MEMWORDS;
      if (known) self.memory[code->k] = BPF_CLASS(code->code) == BPF_ST ? self.a : self.x;
      break;
    case BPF_ALU: known = compute(&self, code); break;
    case BPF_JMP: at += jump(&self, code); break;
    case BPF_RET: return BPF_RVAL(code->code) == BPF_A ? self.a : code->k;
    case BPF_MISC:
      if (BPF_MISCOP(code->code) == BPF_TAX) self.x = self.a;
      else self.a = self.x;
      break;
    }
    if (!known) break;
  }
  return SECCOMP_RET_KILL_PROCESS;
}
#endif
