extension ZombieScenario {
  static let otherUses = [
    ZombieScenario(
      "28.1", "one release too many", kinds: ["release"], type: "ZombieScenarios.Session"
    ) {
      let session = Unmanaged.passRetained(makeSession())
      release(session)
      release(session)
    },
    ZombieScenario("28.2", "a retain after the death", kinds: ["retain"], type: "ZombieScenarios.Session") {
      let session = Unmanaged.passRetained(makeSession())
      release(session)
      adopt(session)
    },
    ZombieScenario(
      "28.3", "a safe unowned reference after the death", kinds: ["unowned"], type: "ZombieScenarios.Session"
    ) {
      print("number:", makeTicket().number)
    },
    ZombieScenario("28.4", "a closure whose context was freed", kinds: ["closure"], type: "closure") {
      var words = freedClosure()
      call(&words)
    },
    ZombieScenario(
      "28.5", "a number is read from a dead object: only guard pages see that", kinds: ["field"],
      type: "ZombieScenarios.Session", member: "Session.number", needsGuard: true
    ) {
      let session = Unmanaged.passRetained(makeSession())
      release(session)
      print("number:", readNumber(session))
    },
  ]
}

/// Something with a number and a reference.
final class Session {
  let number = 7
  let tags = ["a", "b"]
}

/// Is valid as long as its session.
final class Ticket {
  private unowned let session: Session

  init(_ session: Session) { self.session = session }

  @inline(never) @_optimize(none)
  var number: Int { session.number }
}

@inline(never) @_optimize(none)
private func makeSession() -> Session { Session() }

/// The session dies when this returns.
@inline(never) @_optimize(none)
private func makeTicket() -> Ticket {
  let session = makeSession()
  let ticket = Ticket(session)
  done()
  return ticket
}

@inline(never) @_optimize(none)
private func adopt(_ session: Unmanaged<Session>) {
  _ = session.retain()
  done()
}

@inline(never) @_optimize(none)
private func readNumber(_ session: Unmanaged<Session>) -> Int {
  session._withUnsafeGuaranteedRef { $0.number }
}

/// A closure as C code keeps it: its function and its context.
private struct ClosureWords {
  var function: UnsafeRawPointer
  var context: UnsafeRawPointer
}

@inline(never) @_optimize(none)
private func makeClosure(_ session: Session, _ number: Int) -> () -> Int { { session.number + number } }

@inline(never) @_optimize(none)
private func freedClosure() -> ClosureWords {
  var closure: (() -> Int)? = makeClosure(makeSession(), 1)
  let words = withUnsafeBytes(of: &closure) { $0.loadUnaligned(as: ClosureWords.self) }
  closure = nil
  done()
  return words
}

@inline(never) @_optimize(none)
private func call(_ words: inout ClosureWords) {
  withUnsafePointer(to: &words) { pointer in
    pointer.withMemoryRebound(to: (() -> Int).self, capacity: 1) { print("result:", $0.pointee()) }
  }
}
