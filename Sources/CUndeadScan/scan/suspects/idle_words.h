// Words of frames of suspended tasks that own no object of the program (idle_words.c).
#pragma once
#include "scan/bodies/references.h"
#include "scan/suspects/suspects.h"

// False without memory.
bool undead_idle_words_find(undead_suspects *suspects);
void undead_idle_words_close(undead_suspects *suspects);
// Of a word in a block: whether it is doubtful, and does not own the object of the program that it names.
bool undead_is_idle_word(const undead_suspects *suspects, const undead_reference *reference);
