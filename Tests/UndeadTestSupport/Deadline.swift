import Dispatch
import Foundation

/// Ends a child process that hangs, together with all that it started, and keeps where their threads were.
///
/// One that still computes gets the same time again, until it has had that much of a processor: beside much other work it is slow.
///
/// Whoever waits for the child goes on then, and asks ``check()``.
package final class Deadline: Sendable {
  private struct State {
    var isOver = false
    var stacks: String?
    var processorSeconds = 0.0
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
    let seconds = Int(duration.components.seconds)
    timer.schedule(deadline: .now() + .seconds(seconds), repeating: .seconds(max(1, seconds)))
    timer.setEventHandler { [weak self] in self?.pass() }
    timer.resume()
  }

  deinit { timer.cancel() }

  private func pass() {
    state.with { state in
      guard !state.isOver, state.stacks == nil else { return }
      let (before, limit) = (state.processorSeconds, Double(duration.components.seconds))
      state.processorSeconds = Self.processorSeconds(of: process)
      // A test that waits, or polls now and then, uses less than a hundredth of the time.
      let computes = state.processorSeconds - before > limit / 100
      if computes && state.processorSeconds < limit { return }
      timer.cancel()
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

  /// What a process and all that it started have had of a processor.
  private static func processorSeconds(of process: pid_t) -> Double {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = stat.lastIndex(of: ")")
    else { return 0 }
    // From field 14 on: its own time, and that of children that it has waited for, in user code and in the kernel.
    let ticks = stat[name...].split(separator: " ").dropFirst(12).prefix(4).compactMap { Double($0) }.reduce(0, +)
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    let children = threads.flatMap { thread in
      let list = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)
      return (list ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK))) + children.map(processorSeconds).reduce(0, +)
  }

  /// Kills a process and all that it started; says where their threads were.
  package static func endWithStacks(_ process: pid_t) -> String {
    defer { kill(process, SIGKILL) }
    let script = Process()
    script.executableURL = URL(filePath: #filePath).appending(path: "../../../scripts/check/stacks").standardizedFileURL
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
