// Functions of the instrument that test programs look up in the preloaded library, under names that it exports in debug builds
// (Link/exports.map). They jump, so their arguments and results are those of what they stand for.
#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(DEBUG) && defined(__x86_64__)
#define TEST_NAME(name, function)                       \
  __asm__(".text\n.globl undead_test_" #name "\n"       \
          ".type undead_test_" #name ", @function\n"    \
          "undead_test_" #name ":\n  jmp " #function "\n" \
          ".size undead_test_" #name ", . - undead_test_" #name "\n")

TEST_NAME(allocation_backtrace, undead_allocation_backtrace);
TEST_NAME(zombie_is_dead, undead_zombie_is_dead);
TEST_NAME(zombie_report, undead_zombie_report);
TEST_NAME(zombies_read_counters, undead_zombies_read_counters);
TEST_NAME(zombies_resize, undead_zombies_resize);
TEST_NAME(zombies_set_handler, undead_zombies_set_handler);
TEST_NAME(zombies_settle, undead_zombies_settle);
TEST_NAME(zombies_stop, undead_zombies_stop);
#endif
