// Registers of threads that stand still: as a signal handler gets them (ucontext_t), and as ptrace does (struct
// user_regs_struct). They need _GNU_SOURCE, which Package.swift defines.
#pragma once
#include "platform/processor/processor.h"
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/user.h>
#include <ucontext.h>

static inline uintptr_t undead_context_pc(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.gregs[REG_RIP]; }
static inline uintptr_t undead_context_sp(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.gregs[REG_RSP]; }
static inline uintptr_t undead_context_fp(const ucontext_t *context) { return (uintptr_t)context->uc_mcontext.gregs[REG_RBP]; }
static inline void undead_context_set_result(ucontext_t *context, long result) { context->uc_mcontext.gregs[REG_RAX] = result; }

static inline uintptr_t undead_context_general(const ucontext_t *context, int index) {
  static const int order[UNDEAD_GENERAL_REGISTERS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
                                                      REG_RDI, REG_RBP, REG_R8,  REG_R9,  REG_R10,
                                                      REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return (uintptr_t)context->uc_mcontext.gregs[order[index]];
}

// What the program may have in the GS register, where it can be read without a system call.
static inline __attribute__((target("fsgsbase"))) uintptr_t undead_own_gs(void) {
  enum { HAS_FSGSBASE = 2 };   // of AT_HWCAP2 (Documentation/arch/x86/elf_hwcaps.rst)
  return getauxval(AT_HWCAP2) & HAS_FSGSBASE ? __builtin_ia32_rdgsbase64() : 0;
}

// Where the function of a context that makecontext prepared returns to; 0 if the stack is not this one.
static inline uintptr_t undead_context_return(const ucontext_t *context, uintptr_t stack, size_t bytes) {
  uintptr_t sp = undead_context_sp(context);
  return sp - stack <= bytes - sizeof sp ? *(const uintptr_t *)sp : 0;
}

// The other registers.
static inline uint8_t *undead_context_registers(ucontext_t *context, size_t *size) {
  *size = sizeof context->uc_mcontext.gregs;
  return (uint8_t *)context->uc_mcontext.gregs;
}

// Assembly of a signal handler: the frames of `function`, which does its work, have no register of what was interrupted. It returns
// where the return address of the kernel's frame was moved to, or NULL.
#define UNDEAD_HANDLER_WITHOUT_REGISTERS(function) \
  "xor %ebx, %ebx\n\txor %ebp, %ebp\n\txor %r12d, %r12d\n\txor %r13d, %r13d\n\txor %r14d, %r14d\n\txor %r15d, %r15d\n\t" \
  "sub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall " function "\n\tadd $8, %rsp\n\t.cfi_adjust_cfa_offset -8\n\t" \
  "test %rax, %rax\n\tcmovnz %rax, %rsp\n\tret"

// The vector registers, as undead_take_vectors wants them; NULL if there are none.
static inline const uint8_t *undead_context_vectors(const ucontext_t *context, size_t *size) {
  const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
  if (!area) return NULL;
  // struct _fpx_sw_bytes at offset 464: magic, extended size, features, state size.
  uint32_t magic, bytes = 512;
  memcpy(&magic, area + 464, sizeof magic);
  if (magic == 0x46505853) memcpy(&bytes, area + 480, sizeof bytes);
  *size = bytes;
  return area;
}

typedef struct user_regs_struct undead_user_registers;
#define UNDEAD_USER_WORDS 27

static inline uintptr_t undead_user_pc(const undead_user_registers *user) { return user->rip; }
static inline uintptr_t undead_user_sp(const undead_user_registers *user) { return user->rsp; }
static inline uintptr_t undead_user_tp(const undead_user_registers *user) { return user->fs_base; }
static inline uintptr_t undead_user_gs(const undead_user_registers *user) { return user->gs_base; }

static inline void undead_user_general(const undead_user_registers *user, uintptr_t *general) {
  const uintptr_t all[UNDEAD_GENERAL_REGISTERS] = {user->rax, user->rbx, user->rcx, user->rdx, user->rsi,
                                                   user->rdi, user->rbp, user->r8,  user->r9,  user->r10,
                                                   user->r11, user->r12, user->r13, user->r14, user->r15};
  for (int i = 0; i < UNDEAD_GENERAL_REGISTERS; i++) general[i] = all[i];
}

// The set with the vector registers (PTRACE_GETREGSET), and the most bytes that it has.
#define UNDEAD_VECTOR_SET NT_X86_XSTATE
#define UNDEAD_VECTOR_BYTES 16384
typedef struct user_fpregs_struct undead_user_vectors;   // of kernels that have no such set
