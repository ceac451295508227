import CUndead
import Testing

@testable import Undead

/// What a table knows of scopes; the numbers are those of no scope of the process.
@Suite(.timeLimit(.minutes(20))) struct ScopeTableTests {
  private static let beside = UInt32(UNDEAD_SCOPE_BESIDE)
  private static let sole = UInt32(UNDEAD_SCOPE_SOLE)

  private let table = ScopeTable(drivesInstrument: false)

  @Test func theInnermostOfNestedScopesIsTheSoleOne() {
    #expect(table.mark == 0)
    table.enter(1)
    #expect(table.mark == 1 | Self.sole)
    table.add(2, in: 1)
    table.enter(2)
    #expect(table.mark == 2 | Self.sole)
    table.leave(2)
    #expect(table.mark == 1 | Self.sole)
    table.leave(1)
    #expect(table.mark == 0 && !table.isAnyRunning)
    #expect(table.relations.scope(2 | Self.sole) == 2)
  }

  /// What is born beside such a one would be marked with it, and the outer one, whose number is higher, not look for it.
  @Test func aScopeThatWasOpenedBeforeTheOneItLiesInIsNotTheSoleOne() {
    table.add(1, in: 2)
    table.enter(2)
    table.enter(1)
    #expect(table.mark == 2 | Self.beside)
    #expect(table.relations.scope(2 | Self.sole) == ScopeTable.outside)
    #expect(table.relations.scope(1 | Self.sole) == ScopeTable.outside)
    table.leave(1)
    table.leave(2)
    #expect(table.mark == 0)
  }

  @Test func scopesSideBySideHaveNothingAsTheSoleOne() {
    table.enter(1)
    table.enter(2)
    #expect(table.mark == 2 | Self.beside)
    table.leave(2)
    // The first one ran beside another, whatever it was given before.
    #expect(table.mark == 2 | Self.beside)
    #expect(table.relations.scope(1 | Self.sole) == ScopeTable.outside)
    table.leave(1)
    table.enter(3)
    #expect(table.relations.scope(3 | Self.sole) == 3)
  }

  @Test func theInnermostOfTheWantedScopes() {
    table.add(2, in: 1)
    table.add(3, in: 2)
    table.exclude(2)
    let relations = table.relations
    #expect(relations.innermost(of: [1, 3], around: 3) == 3)
    #expect(relations.innermost(of: [1], around: 3) == 1)
    #expect(relations.innermost(of: [4], around: 3) == nil)
    #expect(relations.isExcluded(3) && relations.isExcluded(2) && !relations.isExcluded(1))
  }

  /// What a table keeps is nothing that the scope left behind in which it grew.
  @Test func whatATableKeepsBelongsToNoScope() async {
    await #expect(processExitsWith: .success) {
      let changes: [@Sendable (ScopeTable, UInt32) -> Void] = [
        { $0.add($1, in: 1) }, { $0.enter($1) }, { $0.exclude($1) },
      ]
      for (index, change) in changes.enumerated() {
        let table = AllocationScope.outsideOfAll { ScopeTable(drivesInstrument: false) }
        // In the first round the runtime makes tables of the types that it meets.
        for round in 0..<2 {
          let mark = undead_scope_mark()
          let scope = AllocationScope.outsideOfAll { AllocationScope("grows \(round)") }
          scope.run {
            for number in 1..<5000 { change(table, UInt32(round * 5000 + number)) }
          }
          let hasSurvivors = undead_scope_has_survivors(scope.number, mark)
          #expect(round == 0 || !hasSurvivors, "change \(index)")
        }
        withExtendedLifetime(table) {}
      }
    }
  }
}
