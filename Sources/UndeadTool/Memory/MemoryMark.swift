/// How full memory may get before a program's heap is written to a file.
enum MemoryMark: Equatable {
  /// Of what the process may have: the limit of its cgroup, or the machine's memory.
  case share(percent: Double)
  /// Bytes that the process itself has in memory.
  case bytes(UInt64)

  /// Reads "80%", "1500MB" or "2GiB"; a unit is 1024 of the one below it.
  init(parsing text: String) throws {
    if text.hasSuffix("%") {
      guard let percent = Double(text.dropLast()), percent > 0, percent < 100 else {
        throw ValidationError("'\(text)': give a share between 0% and 100%, like 80%")
      }
      self = .share(percent: percent)
      return
    }
    let bytes = try Amount.parse(text, Amount.sizes, example: "1500MB")
    guard bytes > 0, text.last?.isLetter ?? false else {
      throw ValidationError("'\(text)': give a share like 80%, or a size with its unit, like 1500MB")
    }
    self = .bytes(bytes)
  }
}
