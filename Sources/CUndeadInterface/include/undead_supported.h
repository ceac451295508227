// Whether the instrument is compiled: it knows one kernel, one processor and one C library. Everywhere else each file of
// it is empty, and `CUndead/session/unsupported.c` answers in its place (Documentation/platforms.md). This is the only
// place that decides.
#pragma once

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__) && !defined(UNDEAD_WITHOUT_INSTRUMENT)
// glibc alone has this header: no other macro tells before one of the C library's own headers was included.
#if __has_include(<gnu/libc-version.h>)
#define UNDEAD_SUPPORTED 1
#endif
#endif

#ifndef UNDEAD_SUPPORTED
#define UNDEAD_SUPPORTED 0
#endif
