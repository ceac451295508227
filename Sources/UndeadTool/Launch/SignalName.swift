import Glibc

/// Signals by name, for messages and options.
enum SignalName {
  /// The real-time signals: glibc keeps the first ones for itself, so the numbers are only known at run time.
  static let realTime = __libc_current_sigrtmin()...__libc_current_sigrtmax()

  private static let names: [(name: String, number: Int32)] = [
    ("HUP", SIGHUP), ("INT", SIGINT), ("QUIT", SIGQUIT), ("ILL", SIGILL), ("TRAP", SIGTRAP), ("ABRT", SIGABRT),
    ("BUS", SIGBUS), ("FPE", SIGFPE), ("KILL", SIGKILL), ("USR1", SIGUSR1), ("SEGV", SIGSEGV), ("USR2", SIGUSR2),
    ("PIPE", SIGPIPE), ("ALRM", SIGALRM), ("TERM", SIGTERM), ("STKFLT", SIGSTKFLT), ("CHLD", SIGCHLD),
    ("CONT", SIGCONT), ("STOP", SIGSTOP), ("TSTP", SIGTSTP), ("TTIN", SIGTTIN), ("TTOU", SIGTTOU), ("URG", SIGURG),
    ("XCPU", SIGXCPU), ("XFSZ", SIGXFSZ), ("VTALRM", SIGVTALRM), ("PROF", SIGPROF), ("WINCH", SIGWINCH),
    ("IO", SIGIO), ("PWR", SIGPWR), ("SYS", SIGSYS),
  ]

  static var catchable: [String] {
    names.filter { ![SIGKILL, SIGSTOP, SIGCHLD].contains($0.number) }.map(\.name)
  }

  /// The number of a signal given as `USR1`, `SIGUSR1` or a number; nil if there is none.
  static func number(_ text: String) -> Int32? {
    if let number = Int32(text) { return (1...realTime.upperBound).contains(number) ? number : nil }
    let upper = text.uppercased()
    let name = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
    return names.first { $0.name == name }?.number
  }

  /// The usual name, such as `SIGTERM`; `signal N` for one that has none.
  static func text(_ number: Int32) -> String {
    names.first { $0.number == number }.map { "SIG\($0.name)" } ?? "signal \(number)"
  }
}
