/// How many blocks, and their bytes.
package struct HeapAmount: Codable, Sendable, Hashable {
  package var count: Int
  package var bytes: Int

  package init(count: Int = 0, bytes: Int = 0) {
    self.count = count
    self.bytes = bytes
  }
}
