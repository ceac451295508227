// The kernel does not fault where a page was taken away: read() and its kin would fail with EFAULT, and the program would go another
// way than without the sample. So a use of a dead block is reported before the call, and the page is there for it. Where the block
// dies while the call waits, it is made again. A call with other memory pays for one comparison.
#include "session/signals/signals.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/attached.h"
#include "record/block_source.h"
#include "session/state/interpose.h"
#include "zombies/fault.h"
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef UNDEAD_SANITIZER
bool undead_buffer_attach(void) { return true; }
#else

typedef enum { KERNEL_READS, KERNEL_WRITES } use_of_buffer;

static bool is_checked(void) { return !undead_thread.ignored && !undead_thread.in_hook; }

// How much the kernel will write is not known.
static __attribute__((noinline)) bool check_buffer(uintptr_t first, size_t size, use_of_buffer use, const uintptr_t *frame) {
  undead_frame caller = {.pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
  if (!size || !is_checked()) return false;
  bool used = undead_fault_before_call(first, use == KERNEL_WRITES, caller);
  return (use == KERNEL_READS && undead_fault_before_call(first + size - 1, false, caller)) || used;
}

static inline __attribute__((always_inline)) bool uses_buffer(const void *buffer, size_t size, use_of_buffer use, const uintptr_t *frame) {
  return undead_block_is_chosen(buffer) && check_buffer((uintptr_t)buffer, size, use, frame);
}

// The kernel is to say that lists of buffers are none: where it would return EFAULT, the program must not end here.
static bool uses_buffers(const struct iovec *buffers, size_t count, use_of_buffer use, const uintptr_t *frame) {
  enum { AT_ONCE = 8 };
  struct iovec part[AT_ONCE];
  if (!undead_chosen_blocks.bytes || !count || count > IOV_MAX || !is_checked()) return false;
  bool any = uses_buffer(buffers, count * sizeof *buffers, KERNEL_READS, frame);
  for (size_t first = 0, some; first < count; first += some) {
    some = count - first < AT_ONCE ? count - first : AT_ONCE;
    if (!undead_fault_copy(part, buffers + first, some * sizeof *part)) return any;
    for (size_t i = 0; i < some; i++) any |= uses_buffer(part[i].iov_base, part[i].iov_len, use, frame);
  }
  return any;
}

// Those that the kernel would not reach are uses, too: their memory is freed now.
static bool uses_messages(const struct mmsghdr *messages, unsigned count, use_of_buffer use, const uintptr_t *frame) {
  bool any = false;
  if (!undead_chosen_blocks.bytes || !is_checked()) return false;
  for (unsigned i = 0; i < count && i < IOV_MAX; i++) {
    struct msghdr message;
    any |= uses_buffer(&messages[i].msg_hdr, sizeof message, KERNEL_READS, frame);
    if (!undead_fault_copy(&message, &messages[i].msg_hdr, sizeof message)) return any;
    any |= uses_buffers(message.msg_iov, message.msg_iovlen, use, frame);
  }
  return any;
}

// A message is the beginning of one of a list.
static bool uses_message(const struct msghdr *message, use_of_buffer use, const uintptr_t *frame) {
  return uses_messages((const struct mmsghdr *)message, 1, use, frame);
}

bool undead_buffer_attach(void) {
#define REPLACE(name) {#name, (uintptr_t)name},
  const undead_replacement functions[] = {UNDEAD_INTERPOSED_FOR_BUFFERS(REPLACE)};
  undead_next_find_all();
  return undead_attach_others(functions, sizeof functions / sizeof *functions);
}

#define CALL(name, uses, ...)                                                                   \
  do {                                                                                          \
    const uintptr_t *frame = __builtin_frame_address(0);                                        \
    (void)(uses);                                                                               \
    __typeof__(name(__VA_ARGS__)) result = UNDEAD_NEXT(name)(__VA_ARGS__);                      \
    if (result >= 0 || errno != EFAULT || !(uses)) return result;                               \
    return UNDEAD_NEXT(name)(__VA_ARGS__);                                                      \
  } while (0)
#define WRITES_TO(buffer, size) uses_buffer(buffer, size, KERNEL_WRITES, frame)
#define READS_FROM(buffer, size) uses_buffer(buffer, size, KERNEL_READS, frame)

UNDEAD_PUBLIC ssize_t read(int file, void *buffer, size_t size) { CALL(read, WRITES_TO(buffer, size), file, buffer, size); }
UNDEAD_PUBLIC ssize_t write(int file, const void *buffer, size_t size) {
  CALL(write, READS_FROM(buffer, size), file, buffer, size);
}
UNDEAD_PUBLIC ssize_t pread(int file, void *buffer, size_t size, off_t at) {
  CALL(pread, WRITES_TO(buffer, size), file, buffer, size, at);
}
UNDEAD_PUBLIC ssize_t pread64(int file, void *buffer, size_t size, off64_t at) {
  CALL(pread64, WRITES_TO(buffer, size), file, buffer, size, at);
}
UNDEAD_PUBLIC ssize_t pwrite(int file, const void *buffer, size_t size, off_t at) {
  CALL(pwrite, READS_FROM(buffer, size), file, buffer, size, at);
}
UNDEAD_PUBLIC ssize_t pwrite64(int file, const void *buffer, size_t size, off64_t at) {
  CALL(pwrite64, READS_FROM(buffer, size), file, buffer, size, at);
}
UNDEAD_PUBLIC ssize_t readv(int file, const struct iovec *buffers, int count) {
  CALL(readv, uses_buffers(buffers, (size_t)count, KERNEL_WRITES, frame), file, buffers, count);
}
UNDEAD_PUBLIC ssize_t writev(int file, const struct iovec *buffers, int count) {
  CALL(writev, uses_buffers(buffers, (size_t)count, KERNEL_READS, frame), file, buffers, count);
}
UNDEAD_PUBLIC ssize_t preadv(int file, const struct iovec *buffers, int count, off_t at) {
  CALL(preadv, uses_buffers(buffers, (size_t)count, KERNEL_WRITES, frame), file, buffers, count, at);
}
UNDEAD_PUBLIC ssize_t preadv64(int file, const struct iovec *buffers, int count, off64_t at) {
  CALL(preadv64, uses_buffers(buffers, (size_t)count, KERNEL_WRITES, frame), file, buffers, count, at);
}
UNDEAD_PUBLIC ssize_t pwritev(int file, const struct iovec *buffers, int count, off_t at) {
  CALL(pwritev, uses_buffers(buffers, (size_t)count, KERNEL_READS, frame), file, buffers, count, at);
}
UNDEAD_PUBLIC ssize_t pwritev64(int file, const struct iovec *buffers, int count, off64_t at) {
  CALL(pwritev64, uses_buffers(buffers, (size_t)count, KERNEL_READS, frame), file, buffers, count, at);
}
UNDEAD_PUBLIC ssize_t recv(int socket, void *buffer, size_t size, int flags) {
  CALL(recv, WRITES_TO(buffer, size), socket, buffer, size, flags);
}
UNDEAD_PUBLIC ssize_t recvfrom(int socket, void *buffer, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *length) {
  CALL(recvfrom, WRITES_TO(buffer, size), socket, buffer, size, flags, from, length);
}
UNDEAD_PUBLIC ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
  CALL(recvmsg, uses_message(message, KERNEL_WRITES, frame), socket, message, flags);
}
UNDEAD_PUBLIC ssize_t send(int socket, const void *buffer, size_t size, int flags) {
  CALL(send, READS_FROM(buffer, size), socket, buffer, size, flags);
}
UNDEAD_PUBLIC ssize_t sendto(int socket, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length) {
  CALL(sendto, READS_FROM(buffer, size), socket, buffer, size, flags, to, length);
}
UNDEAD_PUBLIC ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  CALL(sendmsg, uses_message(message, KERNEL_READS, frame), socket, message, flags);
}
UNDEAD_PUBLIC int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit) {
  CALL(recvmmsg, uses_messages(messages, count, KERNEL_WRITES, frame), socket, messages, count, flags, limit);
}
UNDEAD_PUBLIC int sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags) {
  CALL(sendmmsg, uses_messages(messages, count, KERNEL_READS, frame), socket, messages, count, flags);
}
#endif
