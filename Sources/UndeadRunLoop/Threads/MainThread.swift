#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Dispatch

/// Who may run the main loop: the process's first thread, and, after `dispatchMain()` has given that up, whichever
/// thread Dispatch's main queue runs on.
enum MainThread {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { undead_loop_is_main_thread() || DispatchQueue.getSpecific(key: key) == true }
}
#endif
