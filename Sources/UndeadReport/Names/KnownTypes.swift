/// Types and functions of the toolchain that advice knows, by their whole names: a type of the user's may be called alike.
enum KnownTypes {
  /// Not a type that somebody declares in one: `(extension in M):Foundation.Timer.Publisher`.
  static func isTimer(_ type: String) -> Bool { type == "Foundation.Timer" || type == "CFRunLoopTimer" }

  private static let foundationCollections = [
    "NSMutableArray", "NSArray", "NSMutableDictionary", "NSDictionary", "NSMutableSet", "NSSet", "NSMutableOrderedSet",
    "NSOrderedSet", "NSCountedSet", "NSCache<", "NSHashTable<", "NSMapTable<",
  ]

  /// True for a collection that Foundation declares as a class.
  static func isFoundationCollection(_ type: String) -> Bool {
    guard type.hasPrefix("Foundation.NS") else { return false }
    let name = type.dropFirst("Foundation.".count)
    return foundationCollections.contains { $0.hasSuffix("<") ? name.hasPrefix($0) : name == $0 }
  }

  private static let centers = [
    // Where it lies depends on the version of Foundation; before 6.2, a class of its own held the block.
    "FoundationEssentials.NotificationCenter", "Foundation.NotificationCenter", "Foundation.NSNotificationReceiver",
  ]

  /// A notification center, or one of its own types: an observer, a token.
  static func isNotificationCenter(_ type: String) -> Bool {
    centers.contains { type.hasPrefix($0) && (type.utf8.count == $0.utf8.count || type.hasPrefix("\($0).")) }
  }

  /// A key path, which keeps the arguments of its subscripts.
  static func isKeyPath(_ type: String) -> Bool {
    ["Swift.KeyPath<", "Swift.WritableKeyPath<", "Swift.ReferenceWritableKeyPath<"].contains(where: type.hasPrefix)
  }

  static func isContinuationCanary(_ type: String) -> Bool { type == "Swift.CheckedContinuationCanary" }

  /// A step of a path that leads through a continuation.
  static func holdsContinuation(_ step: PathStep) -> Bool {
    isContinuationCanary(step.type)
      || ["Swift.CheckedContinuation", "Swift.UnsafeContinuation"].contains {
        TypeName.mentions($0, in: step.fieldType ?? "")
      }
  }

  /// True for functions of streams, not for those that take one.
  static func isStream(function symbol: String) -> Bool {
    guard symbol.contains("Stream") else { return false }
    let name = FunctionName(symbol)
    return name.extender == nil && name.path.count > 2 && name.path[0] == "Swift"
      && ["AsyncStream", "AsyncThrowingStream"].contains(name.path[1])
  }

  private static let continuations: Set = [
    "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
    "withUnsafeThrowingContinuation",
  ]

  /// True for what waits for a continuation.
  static func isContinuation(function symbol: String) -> Bool {
    guard symbol.contains("Continuation") else { return false }
    let path = FunctionName(symbol).path
    return path.count == 2 && path[0] == "Swift" && continuations.contains(path[1])
  }
}

extension TypeName {
  /// True if it is a function, or one in an optional or a collection of the standard library. What a type of somebody else does
  /// with a function that it is generic over, nobody knows.
  static func isFunction(_ type: String) -> Bool {
    let text = Array(type.utf8)
    var isTransparent: [Bool] = []
    var word = 0
    for (index, byte) in text.enumerated() {
      switch byte {
      case UInt8(ascii: "<"):
        isTransparent.append(text[word..<index].starts(with: "Swift.".utf8))
      case UInt8(ascii: ">") where index > 0 && text[index - 1] == UInt8(ascii: "-"):
        if isTransparent.allSatisfy({ $0 }) { return true }
      case UInt8(ascii: ">"):
        _ = isTransparent.popLast()
      default:
        if isPartOfName(byte) { continue }
      }
      word = index + 1
    }
    return false
  }

  /// True if the name of a type contains that of this generic one: `Swift.Optional<Swift.Unmanaged<A>>`.
  static func mentions(_ generic: String, in type: String) -> Bool {
    let text = Array(type.utf8)
    let wanted = Array("\(generic)<".utf8)
    guard text.count >= wanted.count else { return false }
    return (0...text.count - wanted.count).contains { start in
      (start == 0 || !isPartOfName(text[start - 1])) && text[start...].starts(with: wanted)
    }
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
      true
    default: false
    }
  }
}
