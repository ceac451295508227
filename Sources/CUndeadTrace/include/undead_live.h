// What a thread of a living program runs for us, in pages of its own, on a stack of its own: it opens the library, calls one
// function of it, and finds its way back alone, whatever becomes of the tool.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum {
  UNDEAD_LIVE_NONE,     // the function was called
  UNDEAD_LIVE_FILE,     // memfd_create failed
  UNDEAD_LIVE_WRITE,    // the library could not be written into that
  UNDEAD_LIVE_OPEN,     // dlopen failed
  UNDEAD_LIVE_SYMBOL,   // the library has no such function
  UNDEAD_LIVE_LATE,     // the tool did not want it any more
} undead_live_step;

// Addresses are those of the program.
typedef struct {
  uint64_t ended;             // out: 1 when all is done
  uint64_t cancelled;         // in, later
  uint64_t failed_step;       // out
  int64_t result;             // out: of the function; of what failed the error number
  uint64_t function;          // 0: that of the name `symbol` in the library, which is opened for it
  uint64_t request;           // its argument
  uint64_t library, library_bytes, file_name, path, symbol;   // `path`: "/proc/self/fd/", with room for a number
  uint64_t dlopen, dlsym, dlerror, errno_location;
  uint64_t region, region_bytes, system_call, frame;          // the way back: what to unmap, `syscall; ret`, a signal frame
  uint64_t patience;          // nanoseconds that it waits at the end, to be brought back by the tool
  char message[512];          // out: what dlopen says
} undead_live_call;

// The code, which can be copied anywhere, and its size. It is entered at its start with the address of the call in `rdi`.
const uint8_t *undead_live_code(size_t *size);
