// Files that the instrument makes in folders where other users may make some, too: the session of a tool that runs as root.
#pragma once
#include <stddef.h>

// Opens a file of this process's own for reading and writing, closed at exec: a new one, or one that this user has made before.
// What else has the name is another user's trap (a link, a pipe, a file that its owner shortens while it is mapped): it is taken
// away, and a new file made. -1 if that does not succeed. Async-signal-safe.
int undead_file_own(const char *path);

// Makes an empty file for what is to replace `path` when it is complete, beside it, with a name that nobody can foresee, which
// is put into `name`. -1 with errno if there is none, or the name does not fit. Async-signal-safe.
int undead_file_beside(const char *path, char *name, size_t size);

// Where links lead that have the name `path`, so that the file there is replaced and the links stay: into `place`. A link that
// another user has put into a folder where everybody may put things is not followed. 0, or the number of the error.
int undead_file_destination(const char *path, char *place, size_t size);
