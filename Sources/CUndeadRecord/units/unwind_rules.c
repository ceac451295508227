#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "unwind/rules/cfi_x86_64.c"
#include "unwind/rules/code.c"
#include "unwind/rules/guess_x86_64.c"
#include "unwind/rules/images.c"
#include "unwind/rules/libunwind.c"
#include "unwind/rules/link_map.c"
#include "unwind/rules/pc_table.c"
#include "unwind/rules/table_pages.c"
#endif
