#pragma once
#include <stdio.h>

static int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);                     \
    }                                                                         \
  } while (0)
