#define _GNU_SOURCE
#include "scan_program.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma weak undead_test_scan

static volatile bool stopped;

// The test runner starts this program from a thread that blocks signals, and children inherit that.
__attribute__((constructor)) static void unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

void stop_threads(void) { stopped = true; }

undead_test_scan_counts scan_now(bool copy, bool suspects, const void *watched) {
  undead_test_scan_counts counts;
  if (!undead_test_scan) abort();
  undead_test_scan(copy, suspects, watched, &counts);
  return counts;
}

void deny_ptrace(bool kill) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) abort();
}

void deny_threads(thread_filter how) {
  static const uint32_t actions[] = {SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP, SECCOMP_RET_KILL_PROCESS};
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, actions[how]),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) abort();
}

void *block_with_hole(void) {
  enum { BYTES = 1 << 20, PAGE = 4096 };
  char *block = malloc(BYTES), *page = (char *)(((uintptr_t)block + BYTES / 2) & ~(uintptr_t)(PAGE - 1));
  int file = memfd_create("empty", 0);
  if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != page) abort();
  close(file);
  return block;
}

static pthread_t start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument)) abort();
  return thread;
}

static void kill_if_child(int pid) {
  char path[64], name[64], state;
  int number, parent;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return;
  if (fscanf(file, "%d (%63[^)]) %c %d", &number, name, &state, &parent) == 4 && parent == getpid())
    kill(number, SIGKILL);
  fclose(file);
}

static void *kill_children(void *unused) {
  for (unsigned seed = 1; !stopped; usleep((unsigned)rand_r(&seed) % 3000)) {
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(directory));)
      if (atoi(entry->d_name)) kill_if_child(atoi(entry->d_name));
    closedir(directory);
  }
  return unused;
}

void start_killer(void) { start(kill_children, NULL); }

static bool sleeps(const char *thread) {
  char path[300], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file) return true;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] && name_end[2] == 'S';
}

static bool others_sleep(void) {
  DIR *directory = opendir("/proc/self/task");
  bool all = true;
  for (struct dirent *entry; (entry = readdir(directory));)
    if (atoi(entry->d_name) && atoi(entry->d_name) != gettid()) all &= sleeps(entry->d_name);
  closedir(directory);
  return all;
}

void wait_until_others_sleep(void) {
  // A look at one thread after the other may miss one that another has just woken.
  for (int rounds = 0; rounds < 3; rounds = others_sleep() ? rounds + 1 : 0) usleep(2000);
}

static atomic_bool on_other_stack;

static void wait_on_other_stack(int number) {
  (void)number;
  on_other_stack = true;
  while (!stopped) usleep(1000);
}

static void *use_other_stack(void *block) {
  void *volatile held = block;
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = wait_on_other_stack, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return held;
}

void start_thread_on_other_stack(void *block) {
  start(use_other_stack, block);
  while (!on_other_stack) usleep(1000);
}

static atomic_bool in_vfork, watched_enough;
static atomic_long watched;

static void *wait_in_vfork(void *unused) {
  const struct timespec moment = {0, 1000000};
  pid_t child = vfork();
  if (child == 0) {
    // What it writes is the program's memory.
    in_vfork = true;
    while (!watched_enough) syscall(SYS_nanosleep, &moment, NULL);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return unused;
}

static void *watch(void *unused) {
  long microseconds = 0;
  for (int i = 0; i < 50; i++) microseconds += run_time_of_nanosleep(1000000) / 1000;
  watched = microseconds;
  watched_enough = true;
  return unused;
}

void start_vfork(void) {
  start(wait_in_vfork, NULL);
  while (!in_vfork) usleep(1000);
  start(watch, NULL);
}

long microseconds_watched(void) { return watched; }

// allocate_holding(disguised, flag): keeps the reference in rbx until the flag is set.
void allocate_holding(uintptr_t disguised, volatile bool *flag);
__asm__(
  ".text\n"
  ".type allocate_holding, @function\n"
  "allocate_holding:\n\t"
  "pushq %rbx\n\tpushq %r12\n\tsubq $8, %rsp\n\t"
  "movq %rdi, %rbx\n\tnotq %rbx\n\tmovq %rsi, %r12\n"
  "1:\tmovl $100, %edi\n\tcall malloc@PLT\n\tmovq %rax, %rdi\n\tcall free@PLT\n\t"
  "cmpb $0, (%r12)\n\tje 1b\n\t"
  "addq $8, %rsp\n\tpopq %r12\n\tpopq %rbx\n\tret\n"
  ".size allocate_holding, . - allocate_holding\n");

static void *block_all_and_allocate(void *disguised) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  allocate_holding((uintptr_t)disguised, &stopped);
  return NULL;
}

void start_allocating_thread(uintptr_t disguised) {
  start(block_all_and_allocate, (void *)disguised);
  usleep(50000);
}

#define VICTIMS 4
static pthread_t victims[VICTIMS], sender, sleeper;
static atomic_long sent, received, disturbed;
static volatile bool sender_stopped;

static void receive(int number) {
  (void)number;
  received++;
}

static void *sleep_a_lot(void *unused) {
  while (!stopped) usleep(1000);
  return unused;
}

static void *send_a_lot(void *unused) {
  union sigval value = {0};
  for (unsigned seed = 1; !sender_stopped; usleep(200))
    if (pthread_sigqueue(victims[rand_r(&seed) % VICTIMS], SIGRTMIN + 1, value) == 0) sent++;
  return unused;
}

long run_time_of_nanosleep(long nanoseconds) {
  struct timespec time = {0, nanoseconds}, before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  bool interrupted = nanosleep(&time, NULL) != 0;
  clock_gettime(CLOCK_MONOTONIC, &after);
  return interrupted ? -1 : (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
}

static void *sleep_undisturbed(void *unused) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGRTMIN + 1);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
  while (!stopped)
    if (run_time_of_nanosleep(1000000) < 1000000) disturbed++;
  return unused;
}

void start_signals(void) {
  struct sigaction action = {.sa_handler = receive, .sa_flags = SA_RESTART};
  sigaction(SIGRTMIN + 1, &action, NULL);
  for (int i = 0; i < VICTIMS; i++) victims[i] = start(sleep_a_lot, NULL);
  sender = start(send_a_lot, NULL);
  sleeper = start(sleep_undisturbed, NULL);
}

long check_signals(void) {
  // A signal to a thread that has ended would be lost in any case.
  sender_stopped = true;
  pthread_join(sender, NULL);
  stopped = true;
  for (int i = 0; i < VICTIMS; i++) pthread_join(victims[i], NULL);
  pthread_join(sleeper, NULL);
  if (sent != received || disturbed) printf("sent %ld received %ld early %ld\n", (long)sent, (long)received, (long)disturbed);
  return labs(sent - received) + disturbed + (sent == 0);
}

static void *end_at_once(void *argument) { return argument; }

void run_short_threads(int count, void *(*argument)(int)) {
  for (int i = 0; i < count; i++) pthread_join(start(end_at_once, argument(i)), NULL);
}

static pthread_key_t key;
static atomic_int ready;

typedef struct {
  void **blocks;
  size_t count;
} block_list;

static void *free_all(void *argument) {
  block_list list = *(block_list *)argument;
  for (size_t i = 0; i < list.count; i++) free(list.blocks[i]);
  ready++;
  return NULL;
}

// Of an arena of its own, whose lock it may keep: others can go on allocating.
static void *free_own(void *argument) {
  block_list list = *(block_list *)argument;
  for (size_t i = 0; i < list.count; i++) list.blocks[i] = malloc(136 + i % 16 * 16);
  return free_all(argument);
}

static void work(int number) {
  (void)number;
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 50000000);
}

static void wait_for_ever(int number) {
  (void)number;
  for (;;) pause();
}

pthread_t start_ending_thread(void **blocks, size_t count, bool waits) {
  static block_list list;
  list = (block_list){blocks, count};
  struct sigaction action = {.sa_handler = waits ? wait_for_ever : work, .sa_flags = SA_RESTART};
  sigaction(SIGUSR2, &action, NULL);
  int before = ready;
  pthread_t thread = start(waits ? free_own : free_all, &list);
  while (ready == before);
  usleep(200);
  pthread_kill(thread, SIGUSR2);
  return thread;
}

static void *hold_value(void *block) {
  pthread_setspecific(key, block);
  block = NULL;
  ready++;
  while (!stopped) usleep(1000);
  return NULL;
}

void start_thread_with_value(void *block) {
  int before = ready;
  if (!key) pthread_key_create(&key, NULL);
  // Destroyed threads leave their stacks to new ones: the argument is nowhere but in the descriptor and the value.
  start(hold_value, block);
  while (ready == before) usleep(1000);
}

static __attribute__((noinline)) void keep_dynamic_value(void **box) {
  // A library that is loaded late has its thread-local storage in memory of malloc, found by the thread's vector.
  void (*keep)(void *) = (void (*)(void *))dlsym(dlopen(THREAD_VALUE_LIBRARY, RTLD_NOW), "keep_in_thread");
  keep(*box);
  *box = NULL;
}

static __attribute__((noinline)) void clear_stack_below(void) {
  volatile char unused[16384];
  for (size_t i = 0; i < sizeof unused; i++) unused[i] = 0;
}

static void *hold_dynamic_value(void *box) {
  keep_dynamic_value(box);
  clear_stack_below();
  ready++;
  while (!stopped) usleep(1000);
  return NULL;
}

void start_thread_with_dynamic_value(void *block) {
  // The argument stays in the thread's descriptor.
  static void *box;
  box = block;
  int before = ready;
  start(hold_dynamic_value, &box);
  while (ready == before) usleep(1000);
}

// Keeps a block in one register until `stopped`, by an instruction that moves it from %0 there.
#define HOLD_IN(...) \
  __asm__ volatile( \
    __VA_ARGS__ "xor %k0, %k0\n" \
    "1: cmpb $0, (%1)\n\t" \
    "je 1b" \
    : "+r"(block) \
    : "r"(&stopped) \
    : "r9", "xmm5", "xmm17", "memory", "cc")

static void *register_block;   // the argument of a thread stays in its descriptor

__attribute__((target("avx512f"))) static void hold_in_wide_vector(void *block, bool low_half) {
  if (low_half) HOLD_IN("vpbroadcastq %0, %%zmm17\n\t");
  else HOLD_IN("movq %0, %%xmm5\n\tvinserti32x4 $3, %%xmm5, %%zmm5, %%zmm5\n\tvpxorq %%xmm6, %%xmm6, %%xmm6\n\t"
               "vinserti32x4 $0, %%xmm6, %%zmm5, %%zmm5\n\t");
}

__attribute__((target("avx2"))) static void hold_in_vector(void *block) {
  HOLD_IN("movq %0, %%xmm5\n\tvinserti128 $1, %%xmm5, %%ymm5, %%ymm5\n\tvpxor %%xmm6, %%xmm6, %%xmm6\n\t"
          "vinserti128 $0, %%xmm6, %%ymm5, %%ymm5\n\t");
}

static void *hold_register(void *kind) {
  void *block = register_block;
  register_block = NULL;
  ready++;
  if (kind == (void *)UPPER_VECTOR && __builtin_cpu_supports("avx2")) hold_in_vector(block);
  else if (kind == (void *)WIDE_VECTOR && __builtin_cpu_supports("avx512f")) hold_in_wide_vector(block, false);
  else if (kind == (void *)FURTHER_VECTOR && __builtin_cpu_supports("avx512f")) hold_in_wide_vector(block, true);
  else if (kind == (void *)GENERAL_REGISTER) HOLD_IN("mov %0, %%r9\n\t");
  else HOLD_IN("movq %0, %%xmm5\n\t");
  return NULL;
}

void start_thread_with_register(void *block, enum register_kind kind) {
  int before = ready;
  register_block = block;
  start(hold_register, (void *)kind);
  while (ready == before) usleep(1000);
}

void *map_memory(size_t bytes, bool shared) {
  int flags = MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) abort();
  return memory;
}
