// The version of this package, for C and Swift: nothing else in the sources has it.
#pragma once
#define UNDEAD_VERSION "0.1.0"
