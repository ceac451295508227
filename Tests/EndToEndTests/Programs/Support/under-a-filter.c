// under-a-filter fail|kill PROGRAM ARGUMENTS: starts a program under a filter of system calls as Docker's, under which what is
// forbidden fails, or systemd's, where it kills.
#include "sandbox.h"
#include <string.h>

int main(int count, char **arguments) {
  static const uint32_t forbidden[] = {SYS_ptrace, SYS_process_vm_readv, SYS_perf_event_open, SYS_bpf, SYS_keyctl,
                                       SYS_userfaultfd, SYS_setns, SYS_mount};
  if (count < 3) return 64;
  begin_filter();
  list_in_filter(forbidden, sizeof forbidden / sizeof *forbidden, strcmp(arguments[1], "kill") ? fail : kill_process);
  add_to_filter(BPF_RET | BPF_K, 0, allow);
  renounce_privileges();
  if (set_filter(&filter.program) != 0) return 65;
  execv(arguments[2], arguments + 2);
  return 66;
}
