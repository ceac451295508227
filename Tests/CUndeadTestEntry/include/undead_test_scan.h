// Scans for tests. No stable interface.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a scan of this process found, without names.
typedef struct {
  uint32_t leaked, error;          // undead_scan_error; first, where programs of the corpus look
  uint32_t raw, support, edges, paths;
  uint32_t suspects_of_kind[6];    // by undead_suspect_kind
  uint32_t suspects_with_path;
  uint32_t path_strong, path_counted, path_shared;   // of the first path: whose its first object is
  uint32_t stop_method;            // undead_stop_method
  uint64_t live_blocks, pause_nanoseconds, scan_nanoseconds;
  char message[200];
} undead_test_scan_counts;
// Scans from a thread of its own: in place or in a copy, with suspects or without; `watched` may be an object whose
// retain path is wanted. One call at a time.
void undead_test_scan(bool copy, bool suspects, const void *watched, undead_test_scan_counts *counts);
// What libdispatch keeps for the calling thread, NULL if that is not found. Not thread-safe.
const void *undead_test_dispatch_data(void);

#ifdef __cplusplus
}
#endif
