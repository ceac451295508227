// Which programs of a process tree the instrument is meant for.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// False if the session is only for test programs and this process runs another one. Needs no malloc.
bool undead_record_is_meant_here(void);

// True if this process was started in a sandbox that the tool is not in: under more filters of system calls than the tool, which
// makes the same calls (UNDEAD_FILTERS). Nothing but the calls of the dynamic loader is safe then.
bool undead_record_is_sandboxed(void);

// Filters of system calls that the process was started with, 0 outside of a session.
uint32_t undead_record_filters_at_start(void);

// True if this process runs a test program. Needs no malloc.
bool undead_record_runs_tests(void);

// True if a file of that name is a test program of SwiftPM: `NamePackageTests.xctest` of its own build system,
// `Name-test-runner` of Swift Build.
bool undead_record_is_test_program(const char *path);

#pragma GCC visibility pop
