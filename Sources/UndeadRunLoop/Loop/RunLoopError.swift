#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Glibc

/// What a run loop or one of its timers refuses, with the input at fault.
public enum RunLoopError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A time interval that is negative, not a number, infinite, or longer than 292 years.
  case invalidInterval(Double)
  /// A date that is not a number.
  case invalidDate
  /// The loop's thread has ended: nothing added to it would ever run.
  case loopFinished(loop: String)
  /// The timer, source or observer belongs to another loop. Remove it from all of its modes there first.
  case belongsToAnotherLoop(item: String, loop: String)
  /// The timer, source or observer was invalidated; it can never fire again.
  case invalidated(item: String)
  /// As many timers are scheduled as one loop can hold.
  case tooManyTimers(limit: Int)
  /// The descriptor is closed, or of a kind that cannot be waited for (a regular file).
  case unusableDescriptor(descriptor: Int32, errno: Int32)
  /// The signal does not exist or cannot be caught.
  case unusableSignal(signal: Int32, errno: Int32)
  /// The work did not run: the loop ended while it was waited for.
  case abandoned(loop: String)

  /// What happened, with which input, and what to do about it.
  public var description: String {
    switch self {
    case .invalidInterval(let seconds):
      "The time interval \(seconds) s is refused: it must be 0 or more, finite, and under 292 years."
    case .invalidDate:
      "The date is refused: its time is not a number."
    case .loopFinished(let loop):
      "Run loop \"\(loop)\" has ended with its thread; use the loop of a thread that still runs."
    case .belongsToAnotherLoop(let item, let loop):
      "\(item) belongs to run loop \"\(loop)\"; remove it from all of its modes there before adding it to another."
    case .invalidated(let item):
      "\(item) was invalidated and can never fire again; make a new one."
    case .tooManyTimers(let limit):
      "A run loop holds at most \(limit) timers; invalidate some, or use a second loop."
    case .unusableDescriptor(let descriptor, let error):
      "Descriptor \(descriptor) cannot be a source (errno \(error)): \(Self.reason(error))."
    case .unusableSignal(let signal, let error):
      error == EINVAL
        ? "Signal \(signal) cannot be a source (errno \(error)): it does not exist, cannot be caught, or tells of a fault."
        : "Signal \(signal) cannot be a source (errno \(error)): \(Self.reason(error))."
    case .abandoned(let loop):
      "Run loop \"\(loop)\" ended before the work ran."
    }
  }

  private static func reason(_ error: Int32) -> String {
    switch error {
    case EBADF: "it is closed"
    case EPERM: "it is a kind of file that is always ready"
    case EINVAL, ELOOP: "it is the loop's own, or polls the loop itself"
    case EMFILE, ENFILE: "the process has no descriptors left; close some"
    case ENOSPC: "the user's limit of polled descriptors is reached (/proc/sys/fs/epoll/max_user_watches)"
    default: "the kernel refused it"
    }
  }
}
#endif
