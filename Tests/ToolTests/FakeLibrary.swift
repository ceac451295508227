/// A stand-in for the preloaded library: it speaks the session protocol, and does what `FAKE_...` variables say.
enum FakeLibrary {
  static let source = #"""
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>

    static char *state;
    static char directory[512];

    static void set(int offset, uint32_t value) { memcpy(state + offset, &value, 4); }
    static uint32_t get(int offset) { uint32_t v; memcpy(&v, state + offset, 4); return v; }

    static void copy_snapshot(const char *variable, int number) {
      const char *source = getenv(variable);
      char name[64], path[1024], temporary[1100];
      snprintf(name, sizeof name, "%d.1.%d.undead", getpid(), number);
      snprintf(path, sizeof path, "%s/%s", directory, name);
      snprintf(temporary, sizeof temporary, "%s.tmp", path);
      int in = source ? open(source, O_RDONLY) : -1, out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      static char buffer[1 << 20];
      ssize_t count;
      while (in >= 0 && (count = read(in, buffer, sizeof buffer)) > 0) write(out, buffer, count);
      close(in);
      close(out);
      rename(temporary, path);
      strcpy(state + 640, name);
      set(32, number);
    }

    static void copy_zombies(void) {
      const char *source = getenv("FAKE_ZOMBIES");
      if (!source) return;
      char path[1024];
      snprintf(path, sizeof path, "%s/%d.1.zombies", directory, getpid());
      int in = open(source, O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      static char buffer[1 << 16];
      ssize_t count;
      while ((count = read(in, buffer, sizeof buffer)) > 0) write(out, buffer, count);
      close(in);
      close(out);
    }

    static void on_request(int signal) {
      set(36, get(36) + 1);
      copy_snapshot("FAKE_REQUEST_SNAPSHOT", get(32) + 1);
      set(44, get(44) + 1);
    }

    __attribute__((constructor)) static void start(void) {
      const char *session = getenv("UNDEAD_SESSION");
      char program[1024] = "";
      if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || !session) return;
      // A session for tests alone.
      if (getenv("UNDEAD_ONLY") && !strstr(program, ".xctest")) return;
      snprintf(directory, sizeof directory, "%s", session);
      char path[1024];
      snprintf(path, sizeof path, "%s/%d.state", directory, getpid());
      int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (file < 0 || ftruncate(file, 4096) != 0) return;
      state = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      close(file);
      memcpy(state, "UNDEADST", 8);
      set(8, 1);
      set(12, getpid());
      set(16, getppid());
      set(20, 1);
      set(24, 2);
      strcpy(state + 1152, program);
      set(28, getenv("FAKE_NO_SWIFT") == 0);
      if (getenv("UNDEAD_ZOMBIES")) copy_zombies();
      if (getenv("FAKE_REQUEST_SNAPSHOT")) signal(SIGRTMAX - 2, on_request);
      const char *aside = getenv("FAKE_ASIDE");
      if (aside) {
        set(24, 5);
        strcpy(state + 128, aside);
      }
    }

    __attribute__((destructor)) static void finish(void) {
      if (!state || get(24) == 5) return;
      const char *failure = getenv("FAKE_FAILURE");
      if (failure) {
        strcpy(state + 128, failure);
        set(24, 6);
        return;
      }
      if (!getenv("FAKE_SNAPSHOT")) return;
      copy_snapshot("FAKE_SNAPSHOT", get(32) + 1);
      set(24, 4);
    }
    """#
}
