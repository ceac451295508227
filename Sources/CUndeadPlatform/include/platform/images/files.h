// Where the program's files are for this process: elsewhere, if it was made of a core file.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pairs of zero-terminated paths, that which the program knows and that where the file is; an empty one ends them. The first
// pair is the program's own file. They stay where they are.
void undead_files_give(const char *pairs);
bool undead_files_are_given(void);
// The program's own file, as it knows it; NULL if nothing was given.
const char *undead_given_program(void);
// To be opened for the program's own file.
const char *undead_program_file(void);
// To be opened for the file that is mapped at `address`, or else for `path`. `room` may hold the answer.
const char *undead_file_at(uintptr_t address, const char *path, char *room, size_t size);
