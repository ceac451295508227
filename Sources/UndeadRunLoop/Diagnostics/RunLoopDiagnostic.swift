#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// One thing that diagnostics noticed.
public struct RunLoopDiagnostic: Sendable, Codable, CustomStringConvertible {
  /// What was noticed.
  public enum Kind: String, Sendable, Codable, CaseIterable {
    /// A timer ticks although its weak target, the target of its proxy, or all that its block captures is gone. Blocks are
    /// looked into where the program links Undead or runs under the tool.
    case timerFiringForDeadTarget
    /// A timer is valid but was never added to a loop.
    case timerNeverScheduled
    /// A timer was deallocated before it ever fired.
    case timerDeallocatedUnfired
    /// A timer was invalidated from a thread that is not its loop's.
    case invalidatedOffThread
    /// Timers wait for a mode that the loop does not run.
    case modeStarved
    /// Timers are due in a loop that nobody runs, or whose thread ended without running it.
    case loopNeverRun
    /// A display link left out frames because a callback took too long.
    case framesDropped
    /// A timer fired late, and which callback kept it waiting.
    case lateFire
    /// A callback blocks its loop, with the backtrace of the thread while it does.
    case loopBlocked
    /// A loop still runs although the object that it was made for is gone.
    case loopOutlivesOwner
    /// A weak proxy was made for another weak proxy.
    case stackedWeakProxies
    /// A timer's unretained target was freed; the call was not made.
    case timerTarget
    /// A loop refused a timer.
    case timerRefused
    /// A thread ended with timers in its loop.
    case timersDetached
    /// A callback threw an error; its timer was invalidated.
    case callbackThrew
    /// A loop was asked to run on a thread that is not its own.
    case ranOnForeignThread
    /// A descriptor was closed while it was a source.
    case descriptorClosed
    /// A thread could not be started.
    case threadFailed
  }

  /// A backtrace with the reason it was taken.
  package struct Trace: Sendable, Codable, Hashable {
    /// Such as "allocation", "scheduling", "invalidation", "access".
    package var role: String
    /// Return addresses, innermost first.
    package var addresses: [UInt]
  }

  /// What was noticed.
  public var kind: Kind
  /// One line for a human.
  public var message: String
  /// Figures and names, such as "timer", "loop", "mode", "seconds", "missed".
  package var details: [String: String]
  /// The backtraces that are known.
  package var backtraces: [Trace]

  /// The kind and the message.
  public var description: String { "\(kind.rawValue): \(message)" }
}
#endif
