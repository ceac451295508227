import UndeadReport

/// The types of a heap by the names that reports give them: types of one name are one.
package struct HeapTypes {
  /// What a type keeps for another one, which is its owner in a table.
  package enum Storage: UInt8, Sendable {
    case array, dictionary, set, string, data, byteBuffer, sideTable

    /// True for what holds elements.
    package var isCollection: Bool { self == .array || self == .dictionary || self == .set }
  }

  /// All types of one name.
  package struct Group: Sendable {
    package var name: String
    package var role: NodeRole
    package var kind: Snapshot.Kind
    package var isOfProgram: Bool
    package var storage: Storage?
    /// Holds elements that the instrument understands.
    package var isCollection: Bool

    /// "App.Session" -> "App"; what the compiler and the runtime make has none.
    package var module: String {
      let start = name.prefix { $0 != "." && $0 != "<" && $0 != " " && $0 != "(" }
      return start.count < name.count && name[start.endIndex] == "." ? String(start) : "Swift runtime"
    }
  }

  package private(set) var groups: [Group]
  /// By index of TYPES.
  package let groupOfType: [UInt32]
  /// By index of HEAP SHAPES; ``foreign`` for memory without a type, which its site distinguishes.
  package let groupOfShape: [UInt32]
  /// Raw memory of Swift code.
  package let raw: UInt32
  /// Memory of C code.
  package let foreign: UInt32
  /// By place: what a weak or unowned reference there names that was deallocated, a table or the memory of the object.
  package let deadOfPlace: [UInt32]

  /// How the memory of an object is called that was deallocated.
  package static let deallocated = "deallocated "
  /// How the table of weak references to one is called.
  package static let deadReference = "weak reference to a deallocated object"

  package init(_ file: HeapFile) {
    var groups: [Group] = []
    var known: [String: UInt32] = [:]
    func add(_ group: Group) -> UInt32 {
      if let number = known[group.name] { return number }
      known[group.name] = UInt32(groups.count)
      groups.append(group)
      return UInt32(groups.count - 1)
    }
    raw = add(Self.memory(NodeNames.rawMemory))
    foreign = add(Self.memory(NodeNames.foreignMemory))
    var ofType: [UInt32] = []
    for type in file.snapshot.types {
      let (name, role) = NodeNames.describe(type, file.snapshot.strings)
      let storage = Self.storage(type.kind, name)
      ofType.append(
        add(
          Group(
            name: name, role: role, kind: type.kind, isOfProgram: type.isOfProgram, storage: storage,
            isCollection: storage?.isCollection ?? false)))
    }
    for place in file.places where place.isElement && place.holder != Snapshot.none {
      groups[Int(ofType[Int(place.holder)])].isCollection = true
    }
    // What has run its deinit and is not reached is kept by unowned references, or lost.
    var ofShape: [UInt32] = []
    for shape in file.shapes {
      guard shape.type != Snapshot.none else {
        ofShape.append(foreign)
        continue
      }
      var group = groups[Int(ofType[Int(shape.type)])]
      let isDead = shape.has(HeapFile.Shape.isDead) && !shape.has(HeapFile.Shape.reached)
      if isDead { group.name = Self.deallocated + group.name }
      ofShape.append(isDead ? add(group) : ofType[Int(shape.type)])
    }
    let table = add(Self.memory(Self.deadReference))
    deadOfPlace = file.places.map { place in
      let type = file.snapshot.strings[place.declaredType]
      return place.isUnowned ? add(Self.memory(Self.deallocated + (type.isEmpty ? "object" : type))) : table
    }
    groupOfType = ofType
    groupOfShape = ofShape
    self.groups = groups
  }

  /// The group of a place's holder.
  package func holder(of place: HeapFile.Place) -> UInt32 {
    place.holder == Snapshot.none ? foreign : groupOfType[Int(place.holder)]
  }

  private static func memory(_ name: String) -> Group {
    Group(name: name, role: .memory, kind: .other, isOfProgram: false, storage: nil, isCollection: false)
  }

  /// Starts of the names of the standard library's and Foundation's storage classes.
  private static let storageNames: [(start: String, storage: Storage)] = [
    ("Swift._ContiguousArrayStorage<", .array), ("Swift._EmptyArrayStorage", .array),
    ("Swift.__EmptyArrayStorage", .array), ("Swift._DictionaryStorage<", .dictionary),
    ("Swift.__RawDictionaryStorage", .dictionary), ("Swift.__EmptyDictionarySingleton", .dictionary),
    ("Swift._SetStorage<", .set), ("Swift.__RawSetStorage", .set), ("Swift.__EmptySetSingleton", .set),
    ("Swift.__StringStorage", .string), ("Swift.__SharedStringStorage", .string),
    ("Foundation.__DataStorage", .data), ("FoundationEssentials.__DataStorage", .data),
    ("NIOCore.ByteBuffer._Storage", .byteBuffer),
  ]

  private static func storage(_ kind: Snapshot.Kind, _ name: String) -> Storage? {
    if kind == .sideTable { return .sideTable }
    return storageNames.first { name.hasPrefix($0.start) }?.storage
  }
}
