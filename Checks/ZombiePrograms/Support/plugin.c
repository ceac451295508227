// A library that is opened and closed again.
#include <stdlib.h>
#include <string.h>

static char *kept;
__attribute__((constructor)) static void begin(void) { kept = strdup("a text that the library keeps while it is open"); }
__attribute__((destructor)) static void end(void) { free(kept); }
int plugin_answer(int number) { return number + (int)strlen(kept); }
