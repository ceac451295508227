#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/maps/hole_list.c"
#include "platform/maps/holes.c"
#include "platform/maps/inheritance.c"
#include "platform/maps/maps.c"
#include "platform/maps/maps_lines.c"
#include "platform/maps/segments.c"
#endif
