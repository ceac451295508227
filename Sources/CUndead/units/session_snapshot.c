#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/snapshot/census_file.c"
#include "session/snapshot/process_facts.c"
#include "session/snapshot/snapshot.c"
#include "session/snapshot/snapshot_writer.c"
#endif
