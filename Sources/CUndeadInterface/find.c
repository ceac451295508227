#include "undead_instrument.h"

#ifdef __ELF__
// A weak reference: the program is linked, and starts, without a definition too. With several the first in the order of
// the loader is taken, as it is for malloc: that is the instrument which records.
extern __typeof__(undead_instrument_table) undead_instrument_table __attribute__((weak));

const undead_instrument *undead_find_instrument(void) {
  return undead_instrument_table ? undead_instrument_table(UNDEAD_INSTRUMENT_VERSION) : NULL;
}
#else
// There is no instrument for these systems, and none comes into a program from outside.
const undead_instrument *undead_find_instrument(void) { return NULL; }
#endif
