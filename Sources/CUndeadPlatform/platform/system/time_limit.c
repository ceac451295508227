#include "platform/system/time_limit.h"
#include "platform/system/environment.h"
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"

#define LEAST_SECONDS 60u
#define MOST_SECONDS 86400u
#define SECONDS_PER_GIB 5u   // some times what a slow machine needs
#define PAGES_PER_GIB (1u << 18)

static uint32_t limit = LEAST_SECONDS;

static const char *parse(const char *text, uint64_t *number) {
  *number = 0;
  for (; *text >= '0' && *text <= '9'; text++)
    if (*number < UINT32_MAX) *number = *number * 10 + (uint64_t)(*text - '0');
  return text;
}

// Pages of writable private memory: the sixth number of /proc/self/statm (proc_pid_statm(5)).
static uint64_t data_pages(void) {
  char text[256];
  if (undead_read_text("/proc/self/statm", text, sizeof text) < 0) return 0;
  uint64_t number = 0;
  const char *at = text;
  for (int field = 0; field < 6; field++) {
    at = parse(at, &number);
    if (*at == ' ') at++;
  }
  return number;
}

void undead_scan_limit_refresh(void) {
  const char *text = undead_setting("UNDEAD_SCAN_SECONDS");
  uint64_t seconds = 0;
  bool given = text && !*parse(text, &seconds) && seconds > 0;
  if (!given) seconds = LEAST_SECONDS + data_pages() / PAGES_PER_GIB * SECONDS_PER_GIB;
  limit = seconds < MOST_SECONDS ? (uint32_t)seconds : MOST_SECONDS;
}

uint32_t undead_scan_limit_seconds(void) { return limit; }
