#include "platform/system/system_calls.h"
#include "platform/system/rest_of_time.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const uint8_t syscall_instruction[2] = {0x0f, 0x05};
enum { LONGEST_CALL = 16 };   // bytes that are looked at, with the load of the number

// The number of the system call whose instruction ends at `pc`: known only where it is loaded right before, or with one
// load of an argument in between, as the compiler does it for all calls of libc that wait. Negative if it is not known.
static long system_call_number(const uint8_t *pc) {
  static const uint8_t load_argument[] = {0x8b, 0x7c, 0x24};   // mov offset(%rsp), %edi; one byte of offset
  enum { LOAD_NUMBER = 0xb8, LOAD_NUMBER_BYTES = 5, LOAD_ARGUMENT_BYTES = 4 };   // mov $number, %eax
  const uint8_t *end = pc - sizeof(syscall_instruction);
  if (memcmp(end, syscall_instruction, sizeof(syscall_instruction)) != 0) return -1;
  if (memcmp(end - LOAD_ARGUMENT_BYTES, load_argument, sizeof(load_argument)) == 0) end -= LOAD_ARGUMENT_BYTES;
  uint32_t number;
  if (end[-LOAD_NUMBER_BYTES] != LOAD_NUMBER) return -1;
  memcpy(&number, end - sizeof(number), sizeof(number));
  return number;
}

// A signal that the program gets when the handler returns is to end the call, as it would have without us.
static bool has_pending_signal(const ucontext_t *interrupted) {
  uint64_t pending = 0, blocked;
  memcpy(&blocked, &interrupted->uc_sigmask, sizeof blocked);
  int saved = errno;
  bool known = syscall(SYS_rt_sigpending, &pending, sizeof pending) == 0;
  errno = saved;
  return !known || (pending & ~blocked) != 0;
}

// True if what comes before `pc` can be read: it is code that may lie on another page.
static bool is_code_before(uintptr_t pc) {
  return pc % UNDEAD_PAGE >= LONGEST_CALL || undead_page_is_readable(pc - LONGEST_CALL);
}

void undead_restart_system_call(void *context, bool in_libc) {
  ucontext_t *interrupted = context;
  greg_t *registers = interrupted->uc_mcontext.gregs;
  uintptr_t pc = (uintptr_t)registers[REG_RIP];
  if (registers[REG_RAX] != -EINTR || !is_code_before(pc)) return;
  long number = system_call_number((const uint8_t *)pc);
  // The descriptor of close() is gone, whatever it says.
  if (number < 0 || number == SYS_close || has_pending_signal(interrupted)) return;
  uint64_t arguments[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX], registers[REG_R10], registers[REG_R8]};
  undead_take_rest_of_time((int32_t)syscall(SYS_gettid), number, in_libc, arguments);
  registers[REG_RDI] = (greg_t)arguments[0];
  registers[REG_RDX] = (greg_t)arguments[2];
  registers[REG_R10] = (greg_t)arguments[3];
  registers[REG_R8] = (greg_t)arguments[4];
  registers[REG_RAX] = number;
  registers[REG_RIP] -= (greg_t)sizeof(syscall_instruction);
}
