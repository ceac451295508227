#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

extension RunLoopThread {
  /// What a thread is given beside its loop.
  public struct Settings: Hashable, Sendable {
    /// How much of the processor the thread gets when others want it, too; nil for what the thread has that starts it.
    public var priority: Priority?
    /// How many bytes of stack the thread has; nil for the system's default, which is the limit for stacks (`ulimit -s`, mostly
    /// 8 MB) when the process starts. Only memory that is used counts.
    public var stackSize: Int?

    public init(priority: Priority? = nil, stackSize: Int? = nil) {
      self.priority = priority
      self.stackSize = stackSize
    }
  }

  /// How much of the processor a thread gets when others want it, too; on Linux each thread has its own.
  public struct Priority: Hashable, Sendable {
    /// From -20, the most favoured, to 19. Less than before needs CAP_SYS_NICE, or RLIMIT_NICE.
    public let niceness: Int

    public init(niceness: Int) { self.niceness = niceness }

    /// For what must not be late although others compute: needs the right to it.
    public static let userInteractive = Priority(niceness: -10)
    /// What threads have by default.
    public static let standard = Priority(niceness: 0)
    /// For what may take its time.
    public static let utility = Priority(niceness: 10)
    /// For what shall only take what nobody else wants.
    public static let background = Priority(niceness: 19)
  }
}

extension RunLoopThread.Settings {
  /// More than any address space of a process has.
  private static let addressSpace = 1 << 47
  /// What a thread needs before it calls anything of ours: thread-local storage, and the loop's own calls.
  private static let smallestStack = 128 * 1024

  func check() throws(RunLoopError) {
    if let stackSize, stackSize < Self.smallestStack || stackSize >= Self.addressSpace {
      throw .invalidStackSize(stackSize, atLeast: Self.smallestStack)
    }
    if let niceness = priority?.niceness, !(-20...19).contains(niceness) {
      throw .priorityRefused(niceness: niceness, errno: EINVAL)
    }
  }

  /// Gives the calling thread its priority. Returns why not.
  func takeEffect() -> RunLoopError? {
    guard let niceness = priority?.niceness else { return nil }
    let error = undead_loop_set_niceness(Int32(niceness))
    return error == 0 ? nil : .priorityRefused(niceness: niceness, errno: error)
  }
}
#endif
