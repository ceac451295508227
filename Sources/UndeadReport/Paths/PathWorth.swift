/// What a path goes through at worst, the best first. The instrument's own paths are searched alike (`scan/paths/paths.c`).
package enum PathWorth: UInt8, Comparable, Sendable, BitwiseCopyable {
  /// Fields, elements and captures that are counted, from variables and run loops.
  case counted
  /// Moreover fields of known types that are not counted.
  case typed
  /// Moreover frames of tasks.
  case frames
  /// Moreover structures of libraries, to what is no object of the program.
  case libraries
  /// From thread-local variables, then from stacks and registers, which also hold what is no longer used.
  case locals, threads
  /// Any words of memory without a type.
  case words

  package static func < (a: PathWorth, b: PathWorth) -> Bool { a.rawValue < b.rawValue }

  /// How reports call it; nil for references and fields of known types, and for what the kind of the root says.
  package var evidence: String? {
    switch self {
    case .counted, .typed, .locals, .threads: nil
    case .frames: "frames"
    case .libraries: "libraries"
    case .words: "words"
    }
  }

  /// What the reader of a path has to know; nil if there is nothing to say against it, or if its root says so.
  static func caution(_ evidence: String?) -> String? {
    evidence == "words" ? "through memory without a type, whose words may be stale" : nil
  }
}

extension Snapshot {
  /// What the reference of an edge is worth.
  func worth(ofEdge index: Int, _ names: NodeNames) -> PathWorth {
    let edge = edges[index]
    let (holder, target) = (Int(edge.from), Int(edge.to))
    let isFrame = names.type(of: holder) == NodeNames.asyncFrames || strings[edge.label] == "async frame"
    if isFrame { return .frames }
    if edge.isCounted { return .counted }
    let type = names.type(of: holder)
    if names.role(of: holder) != .memory || type == NodeNames.closureOfC
      || NodeNames.isFieldOfSource(strings[edge.label], of: type)
    {
      return .typed
    }
    return names.role(of: target).isOfProgram ? .words : .libraries
  }
}
