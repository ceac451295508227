import Foundation

/// What a visitor has done so far.
final class Session: Sendable {
  let visitor: String
  let basket: [Item]

  init(visitor: String, basket: [Item]) {
    self.visitor = visitor
    self.basket = basket
  }
}

struct Item: Sendable {
  let article: String
  let thumbnail: Data
}

/// Keeps the sessions of all visitors, and forgets none of them: the growth that this example is about.
actor SessionStore {
  private var sessions: [UUID: Session] = [:]

  func open(_ session: Session) -> UUID {
    let key = UUID()
    sessions[key] = session
    return key
  }

  func find(_ key: UUID) -> Session? { sessions[key] }
}
