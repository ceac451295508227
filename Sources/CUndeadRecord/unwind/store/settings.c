#include "unwind/settings.h"
#include "platform/memory/own_data.h"

uint32_t undead_backtrace_depth = UNDEAD_DEPTH_DEFAULT;
volatile bool undead_backtrace_goes_on;
