#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

/// What the kernel polls for a loop: each descriptor once, for all sources that wait for it.
///
/// The kernel remembers files, not numbers: a registration goes away with the last descriptor of its file, and cannot be
/// reached once its own number is closed. An event for such a one is recognised by its token, which no other ever gets.
struct PollSet: ~Copyable {
  enum Outcome: Equatable {
    case done
    /// The number stands for another file than it did; that file is polled now.
    case exchanged
    case failed(errno: Int32)
  }

  private struct Registration {
    var conditions: UInt32
    var token: UInt64
    /// The last wait whose event for it was dealt with.
    var handled: UInt32
  }

  private var registrations: [Int32: Registration] = [:]
  private var serial: UInt32 = 0
  /// Tokens of registrations that were out of reach when they were to be taken back. The kernel may report them for ever.
  private var lost: Set<UInt64> = []
  /// The mode whose descriptors are registered, -1 if that is not known.
  var mode: Int32 = -1

  /// What a descriptor is polled for, 0 if it is not.
  func conditions(of descriptor: Int32) -> UInt32 { registrations[descriptor]?.conditions ?? 0 }

  var descriptors: [Int32] { Array(registrations.keys) }

  /// It is worthwhile to open the poll anew, only to get rid of lost registrations.
  var hasManyLost: Bool {
    let few = 64
    return lostCount > max(few, registrations.count)
  }

  var lostCount: Int { lost.count }

  func isLost(_ token: UInt64) -> Bool { lost.contains(token) }

  /// The descriptor whose registration has this token, and whether it was looked at since `wait`.
  mutating func descriptor(of token: UInt64, wait: UInt32) -> (descriptor: Int32, isStale: Bool)? {
    let descriptor = Int32(truncatingIfNeeded: token)
    guard let known = registrations[descriptor], known.token == token else { return nil }
    let isStale = Int32(truncatingIfNeeded: known.handled &- wait) > 0
    if !isStale { registrations[descriptor]?.handled = wait }
    return (descriptor, isStale)
  }

  /// Lets `poll` wait for `conditions` of a descriptor, which is asked for even if that is so already; 0 for nothing.
  mutating func set(_ descriptor: Int32, _ conditions: UInt32, on poll: Int32) -> Outcome {
    guard let known = registrations[descriptor] else {
      return conditions == 0 ? .done : add(descriptor, conditions, on: poll)
    }
    let error = undead_loop_poll_set(poll, descriptor, conditions, known.token, true)
    if error == 0, conditions != 0 {
      registrations[descriptor]?.conditions = conditions
      return .done
    }
    registrations[descriptor] = nil
    if error == 0 { return .done }
    lost.insert(known.token)
    if conditions == 0 { return .done }
    let outcome = error == -ENOENT ? add(descriptor, conditions, on: poll) : .failed(errno: -error)
    return outcome == .done ? .exchanged : outcome
  }

  private mutating func add(_ descriptor: Int32, _ conditions: UInt32, on poll: Int32) -> Outcome {
    serial &+= 1
    let token = UInt64(max(serial, 1)) << 32 | UInt64(UInt32(bitPattern: descriptor))
    var error = undead_loop_poll_set(poll, descriptor, conditions, token, false)
    // A lost registration of the same file by the same number: it is in reach again.
    if error == -EEXIST { error = undead_loop_poll_set(poll, descriptor, conditions, token, true) }
    if error != 0 { return .failed(errno: -error) }
    registrations[descriptor] = Registration(
      conditions: conditions, token: token, handled: undead_loop_waits())
    return .done
  }

  /// The kernel knows nothing of this any more.
  mutating func forgetAll() {
    registrations = [:]
    lost = []
    mode = -1
  }
}
#endif
