import Glibc

/// The files that a program had mapped, as they are on this machine.
final class CoreBinaries {
  enum Match {
    case same(CoreInput, ElfImage?)
    /// There are such files, but each is another one.
    case different(reason: String)
    case missing
  }

  private let core: CoreFile
  private let search: BinarySearch
  private var known: [String: Match] = [:]

  init(_ core: CoreFile, _ search: BinarySearch) {
    self.core = core
    self.search = search
  }

  func match(_ file: CoreMappedFile) -> Match {
    if let match = known[file.path] { return match }
    let match = find(file.path)
    known[file.path] = match
    return match
  }

  /// What the core says of the file: its first page is dumped as a rule. Nil if it shows nothing, or it is no ELF file.
  func image(_ path: String) -> ElfImage? {
    guard let first = core.notes.files.first(where: { $0.path == path && $0.offset == 0 }) else { return nil }
    return ElfImage(memory: { core.memory(at: first.low &+ $0, count: $1) })
  }

  private func find(_ path: String) -> Match {
    let wanted = image(path)
    let end = core.notes.files.lazy.filter { $0.path == path }.map { $0.offset + $0.high - $0.low }.max() ?? 0
    var problem: String?
    for place in search.places(of: path) {
      guard let input = try? CoreInput(path: place) else { continue }
      if let reason = Self.difference(input, wanted, end) {
        problem = problem ?? "'\(place)' \(reason)"
      } else {
        return .same(input, ElfImage(file: input))
      }
    }
    return problem.map { .different(reason: $0) } ?? .missing
  }

  /// Why a file is not the one that was mapped; nil if it may be.
  private static func difference(_ input: CoreInput, _ wanted: ElfImage?, _ end: UInt64) -> String? {
    guard let wanted else {
      // The last page may be cut.
      return input.size + CoreFile.page <= end ? "is shorter than what was mapped of it" : nil
    }
    guard let image = ElfImage(file: input) else { return "is no x86-64 ELF file, but the one that was mapped is" }
    guard !image.isSame(as: wanted) else { return nil }
    guard let one = image.buildID, let other = wanted.buildID else { return "has other headers than the one mapped" }
    return "is another version: its build id is \(one.hex), the core has \(other.hex)"
  }
}
