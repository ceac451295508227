// Small trees, made and freed again and again, inside of a frame that is out of the ordinary:
//   frames plain|realigned|leaf|signal|alternate|context|foreign|register ROUNDS
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef struct node {
  struct node *left, *right;
  long value;
} node;

static long rounds;
static volatile long sum;

static __attribute__((noinline)) node *make(int depth) {
  node *made = malloc(depth & 1 ? sizeof *made : sizeof *made + 32);
  made->left = depth > 0 ? make(depth - 1) : NULL;
  made->right = depth > 0 ? make(depth - 1) : NULL;
  made->value = depth;
  return made;
}

static __attribute__((noinline)) long take_down(node *tree) {
  long below = tree->left ? take_down(tree->left) + take_down(tree->right) : 0;
  below += tree->value;
  free(tree);
  return below;
}

static __attribute__((noinline)) void work(void) {
  for (long round = 0; round < rounds; round++) sum += take_down(make(5));
}

void call_realigned(void (*function)(void));
void call_by_register(void (*function)(void));

// As compilers do it where arguments lie on the stack: the frame is found by a word that was saved in it.
__asm__(
    ".text\n"
    ".globl call_realigned, call_by_register\n"
    "call_realigned:\n"
    ".cfi_startproc\n"
    "  lea 8(%rsp), %r10\n"
    ".cfi_def_cfa %r10, 0\n"
    "  and $-64, %rsp\n"
    "  push -8(%r10)\n"
    "  push %rbp\n"
    ".cfi_escape 0x10,0x6,0x2,0x76,0\n"          // rbp is saved at rbp
    "  mov %rsp, %rbp\n"
    "  push %r10\n"
    ".cfi_escape 0xf,0x3,0x76,0x78,0x6\n"        // the CFA is the word at rbp - 8
    "  sub $104, %rsp\n"
    "  call *%rdi\n"
    "  mov -8(%rbp), %r10\n"
    ".cfi_def_cfa %r10, 0\n"
    "  leave\n"
    "  lea -8(%r10), %rsp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    ".cfi_endproc\n"
    // The frame is found by a register that inner functions save.
    "call_by_register:\n"
    ".cfi_startproc\n"
    "  push %rbx\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbx, -16\n"
    "  mov %rsp, %rbx\n"
    ".cfi_def_cfa_register %rbx\n"
    "  sub $16, %rsp\n"
    "  call *%rdi\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbx\n"
    ".cfi_def_cfa %rsp, 8\n"
    "  ret\n"
    ".cfi_endproc\n");

// The frame that allocates is itself the realigned one.
static __attribute__((noinline)) void allocate(void) {
  void *block = malloc(48);
  __asm__ volatile("" ::"r"(block) : "memory");
  free(block);
}

static __attribute__((noinline)) void work_within(void) {
  for (long round = 0; round < rounds * 40; round++) call_realigned(allocate);
}

static void handle(int number) {
  (void)number;
  work();
}

static void interrupt(int flags) {
  static char stack[1 << 17];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}

// As libraries of green threads do it.
static void run_on_context(void) {
  static ucontext_t outside, context;
  size_t size = 1 << 17;
  getcontext(&context);
  context.uc_stack.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  context.uc_stack.ss_size = size;
  context.uc_link = &outside;
  makecontext(&context, work, 0);
  swapcontext(&outside, &context);
}

// Machine code that belongs to no image, as of a just-in-time compiler, with a frame pointer:
// push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
static void run_foreign(void) {
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  ((void (*)(void (*)(void)))(uintptr_t)page)(work);
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "plain";
  rounds = count > 2 ? atol(arguments[2]) : 60000;
  if (strcmp(mode, "plain") == 0) work();
  else if (strcmp(mode, "realigned") == 0) call_realigned(work);
  else if (strcmp(mode, "leaf") == 0) work_within();
  else if (strcmp(mode, "signal") == 0) interrupt(0);
  else if (strcmp(mode, "alternate") == 0) interrupt(SA_ONSTACK);
  else if (strcmp(mode, "context") == 0) run_on_context();
  else if (strcmp(mode, "foreign") == 0) run_foreign();
  else if (strcmp(mode, "register") == 0) call_by_register(work);
  else return 64;
  printf("%ld\n", sum);
  return 0;
}
