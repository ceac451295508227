// The version of this package, for C and Swift: nothing else in the sources has it. And its modules that may be linked into a program:
// what they declare is neither the program's nor the toolchain's. One literal, with a space around each: Swift imports no others.
#pragma once
#define UNDEAD_VERSION "0.1.0"
#define UNDEAD_OWN_MODULES " Undead UndeadAttach UndeadFormats UndeadHeap UndeadHeapFile UndeadHeapReport UndeadMetrics UndeadPage \
UndeadProfile UndeadReport UndeadRunLoop UndeadRunLoopTesting UndeadService UndeadServiceAnalysis \
UndeadSystem UndeadTesting UndeadXCTest "
