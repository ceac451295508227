import Dispatch
import Foundation
import Undead
import UndeadRunLoop

/// A small program about a timer and its owner, with what must become of the two.
public struct RunLoopScenario: Sendable, CustomStringConvertible {
  /// What must be seen when the scenario has run and nobody outside of the run loop needs the owner any more.
  public struct Verdict: Sendable, Equatable, CustomStringConvertible {
    /// The path on which the tool finds the abandoned owner, in pieces that come one after the other; empty if the owner
    /// has died.
    public var path: [String]
    /// Whether the owner holds what keeps it alive: the cycle that a report shows.
    public var holdsBack: Bool
    /// What the run loop's diagnostics tell.
    public var diagnostics: Set<RunLoopDiagnostic.Kind>

    static let clean = told()

    static func told(_ diagnostics: RunLoopDiagnostic.Kind...) -> Verdict {
      Verdict(path: [], holdsBack: false, diagnostics: Set(diagnostics))
    }

    static func abandoned(_ path: String..., holdsBack: Bool = true) -> Verdict {
      Verdict(path: path, holdsBack: holdsBack, diagnostics: [])
    }

    /// Whether something keeps the owner alive.
    public var ownerLives: Bool { !path.isEmpty }

    public var description: String {
      let told = diagnostics.map(\.rawValue).sorted().joined(separator: ", ")
      if ownerLives { return "abandoned: Owner, by " + path.joined(separator: " ... ") }
      return told.isEmpty ? "clean" : told
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

  /// Scenarios 1 to 25 and 32 to 50, in the order of the numbers; those between are about other things than timers.
  public static let all = (strongTimers + weakTimers + otherTimers + misuse + timersOfOthers + threadsAndFrames)
    .sorted { $0.number < $1.number }
}

/// What a screen, session or request owns, and what should die with it. It is used by one thread at a time.
final class Owner: @unchecked Sendable {
  var timer: TrackedTimer?
  weak var weakTimer: TrackedTimer?
  var link: TrackedDisplayLink?
  var source: (any DispatchSourceTimer)?
  var foundationTimer: Timer?
  var isStopped = false
  var onEnd: (() -> Void)?
  var ticks = 0

  func tick(_ timer: TrackedTimer) { ticks += 1 }

  deinit { onEnd?() }
}

/// Seconds between the ticks of the scenarios' timers.
let interval = Duration.milliseconds(2)

/// The same, for what takes seconds.
let intervalInSeconds = 0.002

/// How long an owner may take to die after its scope has ended.
let grace = Duration.milliseconds(100)

/// Lets a loop go through a few ticks.
func runShortly(_ loop: TrackedRunLoop) {
  loop.run(for: .milliseconds(20))
}

/// Opens a screen with an owner, closes it, runs the loop, if any, and says whether the owner lives on.
func afterClosing(_ loop: TrackedRunLoop?, _ makeOwner: () throws -> Owner) rethrows -> Bool {
  weak var owner: Owner?
  try withOwnerScope("screen", grace: grace) { scope in
    owner = scope.adopt(try makeOwner())
    if let loop { runShortly(loop) }
  }
  return owner != nil
}
