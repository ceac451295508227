#include "runtime/liveness.c"
