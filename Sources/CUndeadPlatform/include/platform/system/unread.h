// What was written to a pipe, or to a socket of this machine, and has not been read yet: it is looked at, and stays there. A program
// may hand objects over this way, and has no other reference to them meanwhile. By system calls without libc, none of which waits:
// also with the world stopped.
#pragma once
#include "platform/processor/processor.h"
#include <fcntl.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// include/uapi/linux/fcntl.h, include/linux/splice.h
#define UNDEAD_GET_PIPE_SIZE 1032
#define UNDEAD_SPLICE_AT_ONCE 2

static inline int undead_socket_option(long file, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return undead_raw6(SYS_getsockopt, file, SOL_SOCKET, option, (long)&value, (long)&size, 0) < 0 ? -1 : value;
}

static inline bool undead_is_pipe(long file) { return undead_raw3(SYS_fcntl, file, UNDEAD_GET_PIPE_SIZE, 0) >= 0; }
static inline bool undead_is_local_socket(long file) { return undead_socket_option(file, SO_DOMAIN) == AF_UNIX; }

// By a second pipe, which gets the same bytes. From the end that is written to there is nothing to be had: 0; less if it failed.
static inline long undead_unread_of_pipe(long file, char *bytes, size_t room) {
  int ends[2];
  if (undead_raw3(SYS_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK, 0) < 0) return -1;
  long count = 0, got = undead_raw4(SYS_tee, file, ends[1], (long)room, UNDEAD_SPLICE_AT_ONCE);
  bool failed = got < 0 && got != -EBADF && got != -EAGAIN;
  while (got > 0 && (got = undead_raw3(SYS_read, ends[0], (long)(bytes + count), (long)room - count)) > 0) count += got;
  undead_raw3(SYS_close, ends[0], 0, 0);
  undead_raw3(SYS_close, ends[1], 0, 0);
  return failed ? -1 : count;
}

// Only of streams, with what the program itself may look at counted from the start: to look at a datagram may take an error from
// the socket, and with a place that is counted (SO_PEEK_OFF) each look moves that.
static inline long undead_unread_of_socket(long file, char *bytes, size_t room) {
  if (undead_socket_option(file, SO_TYPE) != SOCK_STREAM || undead_socket_option(file, SO_PEEK_OFF) >= 0) return -1;
  return undead_raw6(SYS_recvfrom, file, (long)bytes, (long)room, MSG_PEEK | MSG_DONTWAIT, 0, 0);
}

// The first of the bytes that wait in a file, 0 if there are none or it is of another kind. `*more`: there may be others.
static inline size_t undead_unread_bytes(long file, char *bytes, size_t room, bool *more) {
  bool is_pipe = undead_is_pipe(file);
  int waiting = 0;
  *more = false;
  if (!is_pipe && !undead_is_local_socket(file)) return 0;
  if (undead_raw3(SYS_ioctl, file, FIONREAD, (long)&waiting) < 0 || waiting <= 0) return 0;
  long count = is_pipe ? undead_unread_of_pipe(file, bytes, room) : undead_unread_of_socket(file, bytes, room);
  *more = count < 0 || (count > 0 && count < waiting);
  return count < 0 ? 0 : (size_t)count;
}
