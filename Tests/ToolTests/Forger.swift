/// A program of another user that lies to a tool which looks at it: it answers requests, and says of itself what its arguments say.
enum Forger {
  /// Arguments: the session folder, the number that its state file is named after (0: its own), the name of its "snapshot", and what
  /// to put there: nothing, `link:TARGET`, `hard:TARGET`, `pipe`, or `holes` (a file of a terabyte). Says "ready PID", then waits.
  static let source = #"""
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <grp.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/stat.h>
    #include <unistd.h>

    static char *state;
    static void set(int offset, uint32_t value) { memcpy(state + offset, &value, 4); }
    static uint32_t get(int offset) { uint32_t v; memcpy(&v, state + offset, 4); return v; }

    static void on_request(int signal) {
      set(36, get(36) + 1);
      set(32, get(32) + 1);
      set(3456, 7);
      set(44, get(44) + 1);
    }

    static void put(const char *kind, const char *path) {
      if (strncmp(kind, "link:", 5) == 0) symlink(kind + 5, path);
      if (strncmp(kind, "hard:", 5) == 0) link(kind + 5, path);
      if (strcmp(kind, "pipe") == 0) mkfifo(path, 0666);
      if (strcmp(kind, "holes") == 0) {
        int file = open(path, O_RDWR | O_CREAT, 0666);
        write(file, "UNDEAD\r\n", 8);
        ftruncate(file, 1l << 40);
        close(file);
      }
    }

    int main(int count, char **arguments) {
      if (getuid() == 0 && (setgroups(0, 0) || setgid(65534) || setuid(65534))) return 1;
      signal(SIGRTMAX - 2, on_request);
      signal(SIGTERM, SIG_DFL);
      int pid = atoi(arguments[2]) ? atoi(arguments[2]) : getpid();
      char path[4096], name[4096];
      snprintf(path, sizeof path, "%s/%d.state", arguments[1], pid);
      int file = open(path, O_RDWR | O_CREAT, 0644);
      if (file < 0 || ftruncate(file, 4096) != 0) return 2;
      state = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      snprintf(name, sizeof name, arguments[3], pid);
      memcpy(state, "UNDEADST", 8);
      set(8, 1);
      set(12, pid);
      set(16, getppid());
      set(20, 1);
      set(24, 2);
      set(28, 1);
      strcpy(state + 640, name);
      snprintf(path, sizeof path, "%s/%s", arguments[1], name);
      put(arguments[4], path);
      printf("ready %d\n", getpid());
      fflush(stdout);
      for (;;) pause();
    }
    """#

  /// Exchanges a folder of its own in the session with a link to another one, again and again, until the session is gone.
  static let exchanger = #"""
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <grp.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    int main(int count, char **arguments) {
      const char *session = getenv("UNDEAD_SESSION");
      if (!session || setgroups(0, 0) || setgid(65534) || setuid(65534)) return 1;
      unsetenv("LD_PRELOAD");
      if (chdir(session) != 0) return 2;
      if (mkdir("folder", 0777) || symlink(arguments[1], "link")) return 3;
      close(open("folder/own", O_CREAT | O_WRONLY, 0666));
      if (fork() == 0) {
        setsid();
        for (int i = 0; i < 4000000; i++)
          if (syscall(SYS_renameat2, AT_FDCWD, "folder", AT_FDCWD, "link", 2) != 0) _exit(0);
        _exit(0);
      }
      return 0;
    }
    """#
}
