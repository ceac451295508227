// Which programs of a process tree the instrument is meant for.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// False if the session is only for test programs and this process runs another one. Needs no malloc.
bool undead_record_is_meant_here(void);

// True if this process runs a test program. Needs no malloc.
bool undead_record_runs_tests(void);

// True if a file of that name is a test program of SwiftPM: `NamePackageTests.xctest` of its own build system,
// `Name-test-runner` of Swift Build.
bool undead_record_is_test_program(const char *path);

#pragma GCC visibility pop
