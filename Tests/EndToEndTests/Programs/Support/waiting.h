// Waiting until the other threads and tasks of a program have come to where they wait.
#pragma once
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool sleeps(const char *thread) {
  char path[300], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file) return true;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] && name_end[2] == 'S';
}

static inline bool others_sleep(void) {
  DIR *directory = opendir("/proc/self/task");
  bool all = true;
  for (struct dirent *entry; (entry = readdir(directory));)
    if (atoi(entry->d_name) && atoi(entry->d_name) != syscall(SYS_gettid)) all &= sleeps(entry->d_name);
  closedir(directory);
  return all;
}

// Returns when no other thread has anything to do.
static inline void wait_until_others_sleep(void) {
  // A look at one thread after the other may miss one that another has just woken.
  for (int rounds = 0; rounds < 3; rounds = others_sleep() ? rounds + 1 : 0) usleep(2000);
}

static int arrived = 0;   // a definition: Swift emits no tentative ones

// To be called by those who are waited for, right before they wait themselves.
static inline void arrive(void) { __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST); }

// Returns when so many have arrived, and no other thread has anything to do.
static inline void wait_until_waiting(int count) {
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < count) usleep(1000);
  wait_until_others_sleep();
}
