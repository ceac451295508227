import UndeadReport

/// What two heaps have in common, by name: types, places, and types in places.
package struct GrowthNames {
  /// A type as reports name it; memory of C code by the library that allocated it.
  package struct TypeName: Hashable {
    package var type: String
    package var module: String?
  }

  /// A type in a place.
  package struct Key: Hashable {
    package var type: UInt32
    package var place: UInt32
  }

  /// By type: what it keeps for an owner; nil for types that are no storage.
  package private(set) var storage: [HeapTypes.Storage?] = []
  private var numberedTypes = Numbered<TypeName>()
  private var numberedPlaces = Numbered<HeapLocations.Name>()
  private var numberedKeys = Numbered<Key>()

  package init() {}

  package var types: [TypeName] { numberedTypes.all }
  package var places: [HeapLocations.Name] { numberedPlaces.all }
  package var keys: [Key] { numberedKeys.all }

  mutating func number(_ type: TypeName, _ storage: HeapTypes.Storage?) -> UInt32 {
    let number = numberedTypes.number(type)
    if number == self.storage.count { self.storage.append(storage) }
    return number
  }

  mutating func number(_ place: HeapLocations.Name) -> UInt32 { numberedPlaces.number(place) }

  mutating func number(_ key: Key) -> UInt32 { numberedKeys.number(key) }
}
