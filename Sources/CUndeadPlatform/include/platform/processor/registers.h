// Registers of threads that stand still: as a signal handler gets them (ucontext_t), and as ptrace does (struct
// user_regs_struct). registers_x86_64.h and registers_arm64.h define the same names. They need _GNU_SOURCE, which Package.swift defines.
#pragma once
#include "platform/processor/processor.h"
#include <elf.h>
#include <sys/user.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "platform/processor/registers_x86_64.h"
#else
#include "platform/processor/registers_arm64.h"
#endif
