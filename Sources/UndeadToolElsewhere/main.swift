import Foundation

// The whole tool where it does not work: see Documentation/platforms.md.
FileHandle.standardError.write(
  Data("undead: this tool works on Linux with glibc on x86-64 only, and finds leaks of programs there\n".utf8))
exit(69)
