#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(__aarch64__)
// Nothing catches the use of a dead object on arm64: the sniffer does not start there, and this only stands for what it is made of.
#include "platform/memory/own_data.h"
#include "zombies/functions/functions.h"
#include "zombies/catch/stubs_x86_64.h"
#include "zombies/catch/watching_x86_64.h"

uintptr_t undead_swift_real[UNDEAD_SWIFT_FUNCTION_COUNT];
const uint8_t undead_method_stubs[UNDEAD_STUB_COUNT * UNDEAD_STUB_BYTES];
undead_method_record undead_record_stubs[UNDEAD_STUB_COUNT];
const uint8_t undead_destroy_stub[1];
const undead_zombie_stubs undead_stubs = {undead_method_stubs, undead_record_stubs, undead_destroy_stub};
const undead_watching_functions undead_watching;
#endif
