// Files that are nowhere but in memory.
#pragma once

// A descriptor, closed in programs that are executed; minus the error number if there is none.
int undead_trace_memory_file(const char *name);
