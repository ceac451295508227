/// How much of the memory that a process may have is in use.
struct MemoryUse: Equatable {
  /// What can not be taken back without ending somebody: files that are cached do not count.
  var used: UInt64
  var limit: UInt64
  /// What the limit is of, for a person.
  var place: String
  /// Who passes the limit ends with all others in the cgroup (`memory.oom.group`).
  var endsAll = false

  var percent: Double { limit == 0 ? 0 : Double(used) / Double(limit) * 100 }
  var room: UInt64 { limit > used ? limit - used : 0 }
}
