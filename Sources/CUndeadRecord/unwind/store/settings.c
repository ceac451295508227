#include "unwind/settings.h"
#include "platform/memory/own_data.h"

volatile bool undead_backtrace_goes_on;
