// What the instrument makes of a name: "own PATH" writes into its own file, "beside PATH" and "destination PATH" print a path.
#include "platform/system/own_file.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
  char room[4096];
  if (count != 3) return 64;
  if (strcmp(arguments[1], "own") == 0) {
    int file = undead_file_own(arguments[2]);
    if (file < 0) return 1;
    return write(file, "own", 3) == 3 ? 0 : 2;
  }
  if (strcmp(arguments[1], "beside") == 0) {
    if (undead_file_beside(arguments[2], room, sizeof room) < 0) return 1;
  } else {
    int error = undead_file_destination(arguments[2], room, sizeof room);
    if (error) return error;
  }
  puts(room);
  return 0;
}
