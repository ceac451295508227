// A helper's work done by the calling thread itself, in a process that may crash.
#pragma once
#include "world/helper.h"

undead_helper_report undead_helper_run_in_place(int (*work)(void *), void *context);
