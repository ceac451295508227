extension LeakReport {
  /// How many strong references an object has, and whose they are.
  package struct ReferenceCount: Codable, Sendable, Hashable {
    /// References of one kind.
    package struct Holder: Codable, Sendable, Hashable {
      /// Type of the objects that hold them.
      package var type: String
      /// Field.
      package var field: String
      /// Number of references.
      package var count: Int

      /// Makes a holder; see the properties for the meaning of each part.
      package init(type: String, field: String, count: Int) {
        self.type = type
        self.field = field
        self.count = count
      }
    }

    /// Type of the object, where it is not known from what is beside it.
    package var type: String?
    /// Strong references to the object.
    package var total: Int
    /// Those that were found: of fields, elements and captures.
    package var found: Int
    /// Who holds those that were found, the most first; only some of many.
    package var holders: [Holder]
    /// What names the object and may own the others: `global`, `thread`, `memory`.
    package var candidates: [String]?

    /// Makes a count; see the properties for the meaning of each part.
    package init(
      type: String? = nil, total: Int, found: Int, holders: [Holder] = [], candidates: [String]? = nil
    ) {
      self.type = type
      self.total = total
      self.found = found
      self.holders = holders
      self.candidates = candidates
    }
  }
}
