// For tests of the instrument. No stable interface.
#pragma once
#include "undead_test_runtime.h"
#include "undead_test_scan.h"
#include "undead_test_session.h"
