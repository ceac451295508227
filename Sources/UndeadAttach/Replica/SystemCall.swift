/// Numbers of system calls (x86-64).
package enum SystemCall {
  package static let mmap = 9
  package static let mprotect = 10
  package static let munmap = 11
  package static let clone = 56
  package static let wait4 = 61
  package static let prctl = 157
  package static let memfdCreate = 319
  package static let closeRange = 436
}
