// Code, tables and names of images that were read count as memory of the process. They can be let go, and come back from their
// files where they are needed.
#pragma once

#pragma GCC visibility push(hidden)

// Lets go all pages of images that nobody writes to; nothing of a segment where one differs from its file. Not from a hook: it
// takes the loader's lock. Keeps errno.
void undead_image_pages_let_go(void);

#pragma GCC visibility pop
