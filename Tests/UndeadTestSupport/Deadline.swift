import Dispatch
import Foundation

/// Ends a child process that hangs, together with all that it started, and keeps where their threads were.
///
/// Whoever waits for the child goes on then, and asks ``check()``.
package final class Deadline: Sendable {
  private struct State {
    var isOver = false
    var stacks: String?
  }

  private let process: pid_t
  private let command: String
  private let duration: Duration
  // A dispatch object, safe to use from any thread.
  nonisolated(unsafe) private let timer: any DispatchSourceTimer
  private let state = Locked(State())

  /// - Parameters:
  ///   - duration: long enough for a machine with much else to do.
  package init(of process: pid_t, command: String, after duration: Duration = .seconds(300)) {
    self.process = process
    self.command = command
    self.duration = duration
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + .seconds(Int(duration.components.seconds)))
    timer.setEventHandler { [weak self] in self?.pass() }
    timer.resume()
  }

  deinit { timer.cancel() }

  private func pass() {
    state.with { state in
      guard !state.isOver else { return }
      state.stacks = Self.endWithStacks(process)
    }
  }

  /// To be called when the process has ended.
  ///
  /// - Throws: ``HungProcess`` if it had to be killed.
  package func check(output: @autoclosure () -> String = "") throws {
    timer.cancel()
    let stacks = state.with { state -> String? in
      state.isOver = true
      return state.stacks
    }
    guard let stacks else { return }
    throw HungProcess(description: "not over after \(duration): \(command)\n\(output())\n\(stacks)")
  }

  /// Kills a process and all that it started; says where their threads were.
  package static func endWithStacks(_ process: pid_t) -> String {
    defer { kill(process, SIGKILL) }
    let script = Process()
    script.executableURL = URL(filePath: #filePath).appending(path: "../../../scripts/stacks").standardizedFileURL
    script.arguments = ["--end", "\(process)"]
    let pipe = Pipe()
    script.standardOutput = pipe
    do {
      try script.run()
      return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    } catch {
      return "no stacks: \(error)"
    }
  }
}

/// A child process that did not end by itself.
package struct HungProcess: Error, CustomStringConvertible {
  package let description: String
}

private final class Locked<Value>: @unchecked Sendable {
  // Guarded by the lock.
  private var value: Value
  private let lock = NSLock()

  init(_ value: Value) { self.value = value }

  func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
