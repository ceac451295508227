// Whether the instrument is compiled: it knows one kernel, one processor and one C library. Everywhere else each unit of
// it is empty, and `CUndead/session/interface/unsupported.c` answers in its place (Documentation/platforms.md). This is the only
// place that decides.
#pragma once

#if defined(__linux__) && defined(__x86_64__) && defined(__LP64__) && !defined(UNDEAD_WITHOUT_INSTRUMENT)
// glibc alone has this header: no other macro shows before one of the C library's own headers was included.
#if __has_include(<gnu/libc-version.h>)
#define UNDEAD_SUPPORTED 1
#endif
#endif

#ifndef UNDEAD_SUPPORTED
#define UNDEAD_SUPPORTED 0
#endif

// A sanitizer has functions of the C library's of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(leak_sanitizer)
#define UNDEAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDEAD_SANITIZER 1
#endif
