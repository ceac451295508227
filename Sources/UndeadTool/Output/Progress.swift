import UndeadReport
import UndeadSystem

/// Says on a terminal what a long step is doing; silent everywhere else.
final class Progress {
  let isOn: Bool
  private var start: UInt64?
  private var shown = ""
  /// Steps that end sooner are not worth a line.
  private static let patience: UInt64 = 500_000_000

  init(isOn: Bool = isatty(STDERR_FILENO) == 1 && System.environment("TERM") != "dumb") {
    self.isOn = isOn
  }

  func show(_ state: ProcessState) {
    guard state.stage == .scanning || !state.step.isEmpty else { return clear() }
    let share = state.progress > 0 ? " \(state.progress / 10) %" : ""
    show("\(state.step.isEmpty ? "looking for leaks" : state.step)\(share)")
  }

  func show(_ line: TextLine) {
    let text = line.plain
    let now = SystemClock.now()
    let start = self.start ?? now
    self.start = start
    guard isOn, text != shown, now - start > Self.patience else { return }
    shown = text
    _ = System.write(Array("\r\u{1B}[Kundead: \(text)".utf8), to: STDERR_FILENO)
  }

  func clear() {
    start = nil
    guard !shown.isEmpty else { return }
    shown = ""
    _ = System.write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }
}
