import Foundation
import Testing
import Undead

/// Owner scopes: each test in a process of its own, since recording concerns all of it.
@Suite(.timeLimit(.minutes(20))) struct OwnerScopeTests {
  @Test func whatIsGoneIsNoLeak() async {
    await #expect(processExitsWith: .success) {
      let scope = OwnerScope("screen")
      scope.adopt(Screen())
      #expect(scope.close().isClean)
    }
  }

  @Test func whatIsHeldIsAbandonedWithItsPath() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let scope = OwnerScope("screen")
      openScreen(scope)
      let outcome = scope.close(grace: .milliseconds(10))
      let leak = try #require(outcome.leaks.first)
      #expect(leak.kind == .abandoned)
      #expect(leak.scope?.name == "screen")
      #expect(leak.retainPath?.contains { $0.field.hasPrefix("screens") } == true)
      #expect(leak.allocation.frames.contains { $0.symbol.contains("openScreen") })
      let report = try LeakDetector.checkForLeaks()
      #expect(report.leaks.contains { $0.kind == .abandoned && $0.scope?.name == "screen" })
    }
  }

  @Test func whoHoldsItIsCounted() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let scope = OwnerScope("screen")
      holdInManyPlaces(scope)
      let references = try #require(scope.close(grace: .milliseconds(1)).leaks.first?.references)
      #expect(references.total == 5 && references.found == 3, "\(references)")
      let fields = references.holders.map { "\($0.type.split(separator: ".").last ?? "") \($0.field) \($0.count)" }
      #expect(Set(fields) == ["Held screens[] 2", "Held onClose 1"], "\(references)")
      #expect(references.candidates?.contains("global") == true, "\(references)")
    }
  }

  @Test func whatGoesWithinTheGraceIsLate() async {
    await #expect(processExitsWith: .success) {
      let outcome = await outcomeOfLateRelease()
      #expect(outcome.isClean)
      #expect(outcome.releasedLate.count == 1)
    }
  }

  @Test func whatGoesAfterTheGraceIsADiagnostic() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let scope = OwnerScope("screen")
      openScreen(scope)
      #expect(scope.close(grace: .milliseconds(1)).leaks.count == 1)
      Held.shared.screens = []
      let report = try LeakDetector.checkForLeaks()
      #expect(!report.leaks.contains { $0.kind == .abandoned })
      #expect(report.diagnostics.contains { $0.kind == "releasedLate" })
    }
  }

  @Test func oddUses() async {
    await #expect(processExitsWith: .success) {
      try LeakDetector.start()
      let scope = OwnerScope("screen")
      openScreen(scope)
      scope.adopt(Held.shared.screens[0])
      #expect(scope.close(grace: .milliseconds(1)).leaks.count == 1)
      #expect(scope.close(grace: .milliseconds(1)).leaks.count == 1)
      scope.adopt(Screen())
      _ = OwnerScope("forgotten").adopt(Screen())
      do { _ = Dying() }
      let kinds = try LeakDetector.checkForLeaks().diagnostics.map(\.kind)
      #expect(kinds.contains("adoptedAfterClose"))
      #expect(kinds.contains("scopeNeverClosed"))
    }
  }
}

private final class Screen {}

private final class Dying {
  deinit {
    let scope = OwnerScope("deinit")
    scope.adopt(self)
    precondition(scope.close(grace: .zero).isClean)
  }
}

private final class Held: @unchecked Sendable {
  static let shared = Held()
  var screens: [Screen] = []
  var onClose: (() -> Void)?
}

private nonisolated(unsafe) var current: Screen?

/// Twice in an array, in a closure, in a global variable, and retained by hand.
@inline(never)
private func holdInManyPlaces(_ scope: OwnerScope) {
  let screen = scope.adopt(Screen())
  Held.shared.screens = [screen, screen]
  Held.shared.onClose = { _ = screen }
  current = screen
  _ = Unmanaged.passRetained(screen)
}

/// The release waits for the actor, which is free when the scope has seen that the object lives and begins to wait.
@MainActor private func outcomeOfLateRelease() async -> OwnerScope.Outcome {
  let scope = OwnerScope("screen")
  openScreen(scope)
  let closer = Task { Held.shared.screens = [] }
  let outcome = await scope.close(grace: .seconds(60))
  await closer.value
  return outcome
}

@inline(never)
private func openScreen(_ scope: OwnerScope) {
  Held.shared.screens.append(scope.adopt(Screen()))
}
