#include "world/world.h"
bool undead_signals_prepare(undead_world *world) { (void)world; return false; }
void undead_signals_finish(undead_world *world) { (void)world; }
undead_stop_result undead_signals_stop(undead_world *world) { (void)world; return UNDEAD_STOP_STUCK; }
void undead_signals_resume(undead_world *world) { (void)world; }
