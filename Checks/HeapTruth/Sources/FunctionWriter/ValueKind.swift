/// A type of locals, parameters and captures, and how a program makes one that holds new objects.
struct ValueKind: Sendable {
  var name: String
  var type: String
  /// An expression; `T` is a type parameter of the function, `tag` its value of that type.
  var made: String
  /// True if it can be captured weakly and unowned.
  var isReference = false
  var isCopyable = true
  /// True if it depends on the type parameter of the function.
  var isGeneric = false

  static let all: [ValueKind] = [
    .init(name: "class", type: "Leaf", made: "made()", isReference: true),
    .init(name: "baseClass", type: "Object", made: "made() as Object", isReference: true),
    .init(name: "existential", type: "any Talker", made: "made() as any Talker", isReference: true),
    .init(
      name: "composition", type: "any Base<Int> & Tagged", made: "made() as any Base<Int> & Tagged", isReference: true),
    .init(
      name: "twoProtocols", type: "any Talker & Tagged", made: "made() as any Talker & Tagged", isReference: true),
    .init(
      name: "constrained", type: "any Delegate<Int>", made: "made() as any Delegate<Int>", isReference: true),
    .init(name: "anyObject", type: "AnyObject", made: "made() as AnyObject", isReference: true),
    .init(name: "opaque", type: "any Value", made: "made() as any Value"),
    .init(name: "opaqueInline", type: "any Value", made: "Small(leaf: made()) as any Value"),
    .init(
      name: "opaqueBoxed", type: "any Value", made: "Nine(first: made(), talker: made()) as any Value"),
    .init(name: "any", type: "Any", made: "Small(leaf: made()) as Any"),
    .init(name: "error", type: "any Error", made: "Failure(leaf: made()) as any Error"),
    .init(name: "metatype", type: "Object.Type", made: "Leaf.self as Object.Type"),
    .init(name: "function", type: "() -> Int", made: "function(made())"),
    .init(
      name: "functionOfC", type: "@convention(c) (Int) -> Int", made: "{ callC($0) } as @convention(c) (Int) -> Int"),
    .init(name: "optional", type: "Leaf?", made: "Optional(made())", isReference: true),
    .init(
      name: "optionalExistential", type: "(any Talker)?", made: "Optional(made() as any Talker)", isReference: true),
    .init(name: "optionalFunction", type: "(() -> Int)?", made: "Optional(function(made()))"),
    .init(name: "single", type: "Single", made: "Single.leaf(made())"),
    .init(name: "severalLeaf", type: "Several", made: "Several.leaf(made())"),
    .init(name: "severalTalker", type: "Several", made: "Several.talker(made(), 3)"),
    .init(name: "chain", type: "Chain", made: "Chain.link(made(), .end(made()))"),
    .init(name: "tuple", type: "(Leaf, Int8, any Talker)", made: "(made(), 5, made() as any Talker)"),
    .init(name: "small", type: "Small", made: "Small(leaf: made())"),
    .init(name: "nine", type: "Nine", made: "Nine(first: made(), talker: made())"),
    .init(name: "pair", type: "Pair<Leaf, Int16>", made: "Pair(one: made(), other: Int16(9))"),
    .init(name: "array", type: "[Leaf]", made: "[made(), made()]"),
    .init(name: "dictionary", type: "[Int: Leaf]", made: "[1: made(), 2: made()]"),
    .init(name: "functions", type: "[() -> Int]", made: "[function(made()), function(made())]"),
    .init(name: "text", type: "String", made: "String(repeating: \"text\", count: 9)"),
    .init(name: "number", type: "Int", made: "callC(5)"),
    .init(name: "unique", type: "Unique", made: "Unique(leaf: made(), extra: 4)", isCopyable: false),
    .init(
      name: "uniqueChoice", type: "Choice", made: "Choice.unique(Unique(leaf: made(), extra: nil))", isCopyable: false),
    .init(name: "uniqueLeaf", type: "Choice", made: "Choice.leaf(made(), 3)", isCopyable: false),
    .init(
      name: "uniqueGeneric", type: "Only<Unique>", made: "Only(content: Unique(leaf: made(), extra: 4), leaf: made())",
      isCopyable: false),
    .init(name: "lock", type: "Mutex<Leaf?>", made: "Mutex<Leaf?>(made())", isCopyable: false),
    .init(name: "parts", type: "Parts<Leaf, Int8, any Talker>", made: "Parts(made(), Int8(3), made() as any Talker)"),
    .init(name: "parameter", type: "T", made: "tag", isGeneric: true),
    .init(name: "genericClass", type: "Keeper<T>", made: "keeper(tag)", isReference: true, isGeneric: true),
    .init(
      name: "genericConstrained", type: "any Delegate<T>", made: "keeper(tag) as any Delegate<T>", isReference: true,
      isGeneric: true),
    .init(
      name: "genericComposition", type: "any Base<T> & Tagged", made: "keeper(tag) as any Base<T> & Tagged",
      isReference: true, isGeneric: true),
    .init(
      name: "genericFunction", type: "() -> Int", made: "function(tag, made())", isGeneric: true),
    .init(name: "genericPair", type: "Pair<T, Leaf>", made: "Pair(one: tag, other: made())", isGeneric: true),
    .init(name: "genericMetatype", type: "T.Type", made: "T.self", isGeneric: true),
  ]
}
