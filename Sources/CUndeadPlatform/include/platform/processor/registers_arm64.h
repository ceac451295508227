// arm64, for registers.h. Untested on hardware: Documentation/platforms.md.
#pragma once

static inline uintptr_t undead_context_pc(const ucontext_t *context) { return context->uc_mcontext.pc; }
static inline uintptr_t undead_context_sp(const ucontext_t *context) { return context->uc_mcontext.sp; }
static inline uintptr_t undead_context_fp(const ucontext_t *context) { return context->uc_mcontext.regs[29]; }
static inline void undead_context_set_result(ucontext_t *context, long result) {
  context->uc_mcontext.regs[0] = (unsigned long long)result;
}

static inline uintptr_t undead_context_general(const ucontext_t *context, int index) { return context->uc_mcontext.regs[index]; }

static inline uintptr_t undead_own_gs(void) { return 0; }

static inline uintptr_t undead_context_return(const ucontext_t *context, uintptr_t stack, size_t bytes) {
  return undead_context_sp(context) - stack <= bytes ? context->uc_mcontext.regs[30] : 0;
}

static inline uint8_t *undead_context_registers(ucontext_t *context, size_t *size) {
  uint8_t *first = (uint8_t *)context->uc_mcontext.regs;
  *size = (size_t)((uint8_t *)context->uc_mcontext.__reserved - first);
  return first;
}

#define UNDEAD_HANDLER_WITHOUT_REGISTERS(function) \
  "mov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\tmov x22, xzr\n\tmov x23, xzr\n\tmov x24, xzr\n\t" \
  "mov x25, xzr\n\tmov x26, xzr\n\tmov x27, xzr\n\tmov x28, xzr\n\tmov x29, xzr\n\tb " function

// The first record that the kernel writes (arch/arm64/include/uapi/asm/sigcontext.h) has them: {magic, size, two words of state}.
static inline const uint8_t *undead_context_vectors(const ucontext_t *context, size_t *size) {
  enum { FPSIMD_RECORD = 0x46508001, HEAD_BYTES = 16 };
  const uint8_t *record = (const uint8_t *)context->uc_mcontext.__reserved;
  if (*(const uint32_t *)record != FPSIMD_RECORD) return NULL;
  *size = *(const uint32_t *)(record + 4) - HEAD_BYTES;
  return record + HEAD_BYTES;
}

// ptrace separates the thread pointer from the others: it stands behind them here.
typedef struct {
  struct user_regs_struct user;
  uint64_t tp;
} undead_user_registers;
#define UNDEAD_USER_WORDS 35
#define UNDEAD_THREAD_POINTER_SET NT_ARM_TLS

static inline uintptr_t undead_user_pc(const undead_user_registers *user) { return user->user.pc; }
static inline uintptr_t undead_user_sp(const undead_user_registers *user) { return user->user.sp; }
static inline uintptr_t undead_user_tp(const undead_user_registers *user) { return user->tp; }
static inline uintptr_t undead_user_gs(const undead_user_registers *user) {
  (void)user;
  return 0;
}

static inline void undead_user_general(const undead_user_registers *user, uintptr_t *general) {
  for (int i = 0; i < UNDEAD_GENERAL_REGISTERS; i++) general[i] = user->user.regs[i];
}

// 32 registers of 16 bytes, and two words (struct user_fpsimd_struct). What longer vectors (SVE) have above is not seen.
#define UNDEAD_VECTOR_SET NT_FPREGSET
#define UNDEAD_VECTOR_BYTES 528
typedef struct user_fpsimd_struct undead_user_vectors;
