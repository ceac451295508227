import CUndead
import UndeadReport

/// The live objects of the process by type.
package struct Census: Sendable {
  /// The live objects of one type.
  package struct Entry: Sendable {
    var isa: UInt
    var isClass: Bool
    package var objects: Int
    package var bytes: Int
    /// How many of them were born in each of the scopes that were asked for.
    var born: [Int]
    /// Some of them, rather such as something reaches.
    var samples: [HiddenAddress]
  }

  package let entries: [Entry]

  /// Counts; all threads stand still meanwhile.
  ///
  /// - Parameter scopes: examples are objects born in the last one of these; without any, all objects.
  package init(scopes: [UInt32] = []) throws(UndeadError) {
    undead_lock_checks()
    defer { undead_unlock_checks() }
    var table: UnsafeMutablePointer<undead_census_entry>?
    var count = 0
    try withMessage { message, size in
      table = undead_census_take(scopes, UInt32(scopes.count), &count, message, size)
      return table != nil
    }
    defer { undead_census_release(table) }
    entries = UnsafeBufferPointer(start: table, count: count).map { Entry($0, scopes: scopes.count) }
  }

  static let scopeLimit = Int(UNDEAD_CENSUS_SCOPES)
}

extension Census.Entry {
  fileprivate init(_ entry: undead_census_entry, scopes: Int) {
    isa = entry.isa
    isClass = entry.kind == 1
    objects = Int(clamping: entry.objects)
    bytes = Int(clamping: entry.bytes)
    born = withUnsafeBytes(of: entry.born) { bytes in
      bytes.bindMemory(to: UInt32.self).prefix(scopes).map(Int.init)
    }
    samples = withUnsafeBytes(of: entry.sample) { bytes in
      bytes.bindMemory(to: UInt.self).prefix(Int(entry.samples)).map { HiddenAddress(UInt64($0)) }
    }
  }

  /// The class, whose metadata an instance begins with; nil for closure contexts and the like.
  package var type: AnyClass? {
    // An isa is the address of the metadata, and that is what a metatype is.
    isClass ? unsafeBitCast(isa, to: AnyClass.self) : nil
  }
}
