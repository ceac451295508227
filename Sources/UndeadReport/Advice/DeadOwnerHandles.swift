/// The fields of a deallocated owner's type that can hold the task, timer or token which it did not cancel.
struct DeadOwnerHandles: Equatable {
  /// Type of the owner; nil if it is not known.
  var owner: String?
  private(set) var fields: [String] = []

  /// Nothing is known of the owner.
  init() {}

  /// Of several owners the first that has such a field; nil if the type of none is known.
  init?(_ known: [Snapshot.OwnerField], of kind: LeakReport.Suspect.Kind, _ strings: StringTable) {
    guard let first = known.first else { return nil }
    let isHandle =
      kind == .taskOfDeadOwner ? Self.holdsTask : kind == .observerOfDeadOwner ? Self.holdsToken : Self.holdsTimer
    let handles = known.filter { isHandle(strings[$0.type]) }
    let chosen = handles.first?.owner ?? first.owner
    owner = TypeName.unspecialized(strings[chosen])
    for handle in handles where handle.owner == chosen {
      let name = Self.name(strings[handle.field])
      if !fields.contains(name) { fields.append(name) }
    }
  }

  /// "cancel `task` of App.Model in its deinit", or how else it is ended.
  func remedy(_ what: String, by call: String = "cancel") -> String {
    let names = fields.prefix(3).map { "`\($0)`" }
    let list = names.joined(separator: ", ") + (fields.count > 3 ? ", ..." : "")
    guard let owner else { return "keep the \(what) in a field, and \(call) it in the owner's deinit" }
    switch fields.count {
    case 0: return "keep the \(what) in a field of \(owner), and \(call) it in its deinit"
    case 1: return "\(call) \(list) of \(owner) in its deinit"
    default: return "\(call) the \(what) in the deinit of \(owner), in whichever of these fields it is: \(list)"
    }
  }

  private static func holdsToken(_ type: String) -> Bool {
    type.split { "<>(), ".contains($0) }.contains {
      $0 == "Foundation.NSObjectProtocol" || $0.hasSuffix("ObserverToken")
    }
  }

  private static func holdsTask(_ type: String) -> Bool { TypeName.mentions("Swift.Task", in: type) }

  private static let timers = [
    "Dispatch.DispatchSourceTimer", "Dispatch.DispatchSourceProtocol", "Dispatch.DispatchSource", "Foundation.Timer",
  ]

  private static func holdsTimer(_ type: String) -> Bool {
    type.split { "<>(), ".contains($0) }.contains { timers.contains(String($0)) || $0.hasSuffix(".AnyCancellable") }
  }

  private static func name(_ field: String) -> String {
    field.hasPrefix(NodeNames.lazyPrefix) ? String(field.dropFirst(NodeNames.lazyPrefix.count)) : field
  }
}
