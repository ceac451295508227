/// What is looked for in a program. The numbers are flags of `undead_replica_request`.
package enum Look: UInt32 {
  case leaks = 4
  /// The whole heap, too.
  case heap = 5
  /// The whole heap; of the suspects only tasks and timers of deallocated owners.
  case tasks = 1
  /// Nothing but the number of blocks of each type.
  case census = 68

  package var includesHeap: Bool { self == .heap || self == .tasks }
}
