import CUndead

/// Whether assertions can check anything in this process: what its one instrument says, in all sessions.
package enum Availability {
  /// False on platforms without an instrument. Weak references tell there, too, whether an object is gone.
  package static let isSupported = undead_is_supported()

  /// Why nothing can be checked, in one sentence; nil if it can. Starts recording if that was not done yet.
  package static var reason: String? {
    if isForkedCopy { return forkedCopy }
    return LeakDetector.isActive ? nil : firstFailure ?? failureOfStart()
  }

  /// Whatever made it impossible does so until the end of the process.
  private static let firstFailure = failureOfStart()

  private static func failureOfStart() -> String? {
    do {
      try LeakDetector.start()
      return nil
    } catch {
      return error.description
    }
  }

  /// True in a process that was forked from the one of the tests: locks of threads that it does not have stay locked
  /// there, so nothing may wait for one.
  package static var isForkedCopy: Bool { undead_is_forked_copy() }

  static let forkedCopy = "this process is a forked copy of the test process"

  /// True for a reason that holds for all checks that are made here.
  package static func isOfPlatform(_ reason: String) -> Bool {
    !isSupported && reason.hasSuffix(String(cString: undead_inactive_reason()))
  }

  /// What is checked all the same where there is no instrument.
  package static let remainder =
    "said once for all tests; objects given to trackForMemoryLeaks and assertDeallocated are checked"
}
