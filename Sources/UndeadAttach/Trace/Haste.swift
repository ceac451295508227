import UndeadSystem

/// While a program stands still the thread that holds it goes before others, if the system allows it: a busy machine would
/// make the pause longer.
struct Haste {
  private let before: Int32

  init() {
    before = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -20)
  }

  func end() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, before) }
}
