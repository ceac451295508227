import UndeadRunLoop

/// A small program about a timer and its owner, with what must become of the two.
public struct RunLoopScenario: Sendable, CustomStringConvertible {
  /// What must be seen when the scenario has run and nobody outside of the run loop holds the owner any more.
  public struct Verdict: Sendable, Equatable, CustomStringConvertible {
    /// Whether something of the run loop keeps the owner alive.
    public var ownerLives: Bool
    /// What the run loop's diagnostics tell.
    public var diagnostics: Set<RunLoopDiagnostic.Kind>

    init(ownerLives: Bool = false, _ diagnostics: RunLoopDiagnostic.Kind...) {
      self.ownerLives = ownerLives
      self.diagnostics = Set(diagnostics)
    }

    public var description: String {
      let told = diagnostics.map(\.rawValue).sorted()
      if !ownerLives, told.isEmpty { return "clean" }
      return ((ownerLives ? ["the owner lives on"] : []) + told).joined(separator: ", ")
    }
  }

  public let number: Int
  /// The point of the code, in one line.
  public let title: String
  public let verdict: Verdict
  /// Runs the code on a loop and returns whether the owner lives on.
  public let run: @Sendable (TrackedRunLoop) throws -> Bool

  init(
    _ number: Int, _ title: String, _ verdict: Verdict, run: @escaping @Sendable (TrackedRunLoop) throws -> Bool
  ) {
    self.number = number
    self.title = title
    self.verdict = verdict
    self.run = run
  }

  public var description: String { "\(number) \(title)" }

  /// What is late enough, blocked long enough and starved long enough for programs as short as these.
  public static let thresholds: RunLoopDiagnostics.Thresholds = {
    var thresholds = RunLoopDiagnostics.Thresholds()
    thresholds.modeStarved = .milliseconds(10)
    thresholds.loopBlocked = .milliseconds(50)
    thresholds.lateFire = .milliseconds(100)
    return thresholds
  }()

  /// Runs the scenario on the calling thread's loop, and prints its point, what the diagnostics tell and what is left.
  public func runAndTell() throws {
    print(self)
    RunLoopDiagnostics.enable(Self.thresholds) { print("  \($0)") }
    defer { RunLoopDiagnostics.disable() }
    print(try run(.current) ? "  the owner lives on" : "  the owner is gone")
    for line in TrackedRunLoop.inspect().description.split(separator: "\n") { print("  \(line)") }
  }

  /// Scenarios 1 to 25.
  public static let all = strongTimers + weakTimers + otherTimers + misuse
}

/// What a screen, session or request owns, and what should die with it. It is used by one thread at a time.
final class Owner: @unchecked Sendable {
  var timer: TrackedTimer?
  weak var weakTimer: TrackedTimer?
  var link: TrackedDisplayLink?
  var onEnd: (() -> Void)?
  var ticks = 0

  func tick(_ timer: TrackedTimer) { ticks += 1 }

  deinit { onEnd?() }
}

/// Lets a loop go through a few ticks.
func runShortly(_ loop: TrackedRunLoop, mode: TrackedRunLoop.Mode = .default) {
  loop.run(mode: mode, for: .milliseconds(20))
}

/// Seconds between the ticks of the scenarios' timers.
let interval = 0.002

/// Sets an owner up, lets go of it, runs the loop, and tells whether the owner lives on.
func afterLettingGo(
  of makeOwner: () throws -> Owner, on loop: TrackedRunLoop, mode: TrackedRunLoop.Mode = .default
) rethrows -> Bool {
  weak let owner = try makeOwner()
  runShortly(loop, mode: mode)
  return owner != nil
}
