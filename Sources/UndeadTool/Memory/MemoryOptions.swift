import UndeadSystem

/// When, how often and how many heaps are written because memory gets short.
struct MemoryOptions: ParsableArguments {
  @Option(
    "--snapshot-at <mark>",
    help:
      "Keep the heap of the running program when memory passes this mark: a share of the limit of its cgroup (else of "
      + "the machine's memory), such as 80%, or a size of the program itself, such as 1500MB. Into the file of --heap "
      + "(else undead-PID.undead) with .1, .2 ... appended.",
    brief: "keep the heap when memory passes a mark, such as 80% or 1500MB", transform: MemoryMark.init(parsing:))
  var snapshotAt: MemoryMark?

  @Option(
    "--snapshot-every <time>", help: "With --snapshot-at: the least time between two such heaps (10min).",
    transform: ZombieOptions.parseTime)
  var snapshotEvery: UInt64 = 600_000

  @Option("--snapshot-keep <count>", help: "With --snapshot-at: how many of the newest such heaps are kept (3).")
  var snapshotKeep = 3

  func validate() throws {
    if snapshotKeep < 1 { throw ValidationError("--snapshot-keep: keep at least one") }
    if snapshotEvery == 0 { throw ValidationError("--snapshot-every: give a time with its unit, like 10min") }
  }

  func watch(over pid: pid_t) -> MemoryWatch? {
    snapshotAt.map { mark in
      var root = ""
      #if DEBUG
        // Tests bring a tree of their own.
        root = System.environment("UNDEAD_TEST_CGROUP_ROOT") ?? ""
      #endif
      return MemoryWatch(
        mark: mark, every: snapshotEvery * 1_000_000, gauge: MemoryGauge(pid: pid, root: root), now: SystemClock.now())
    }
  }
}
