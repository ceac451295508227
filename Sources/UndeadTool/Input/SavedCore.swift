import Glibc
import UndeadAttach
import UndeadReport

/// A core file in the place of a file that undead wrote.
struct SavedCore {
  /// What was found in it: a file in memory, as long as this lives.
  private let content: ReplicaFile
  let symbolizer: Symbolizer
  /// That ended the program; nil if a debugger wrote the core file while it ran.
  let signal: Int32?

  var path: String { content.path }

  /// True if a file is a core file, or one that has to be uncompressed.
  static func claims(_ file: String) -> Bool { CoreFile.isCore(path: file) || CoreFile.isCompressed(path: file) }

  /// Looks into a core file.
  init(_ file: String, for look: Look, _ options: CoreOptions) throws(ToolError) {
    let search = try options.search()
    let library = try PreloadLibrary.ofThisTool()
    do throws(AttachError) {
      let core = try CoreFile(path: file)
      let snapshot = try CoreSnapshot.take(of: core, for: look, search: search, library: library.path)
      content = snapshot.file
      symbolizer = Self.symbolizer(snapshot.files)
      for note in snapshot.notes { Message.say("'\(file)': \(note)") }
      signal = core.endingSignal.flatMap { Int32(exactly: $0) }
    } catch {
      throw ToolError(error)
    }
  }

  /// The loader knows libraries by links that lead to their files.
  private static func symbolizer(_ files: [(path: String, place: String)]) -> Symbolizer {
    @Sendable func name(_ path: String) -> Substring { path.split(separator: "/").last ?? "" }
    let exact = Dictionary(files.map { ($0.path, $0.place) }) { first, _ in first }
    let named = Dictionary(files.map { (name($0.path), $0.place) }) { first, _ in first }
    return Symbolizer(files: { exact[$0] ?? named[name($0)] ?? $0 })
  }

  /// What ended the program, for those who keep what is in the core file.
  var ending: Ending? { signal.map { .signalled($0) } }

  func snapshot() throws(ToolError) -> Snapshot {
    var snapshot = try SnapshotFile.load(path)
    snapshot.symbols = symbolizer.symbolize(snapshot).symbols
    if let signal { snapshot.setMetadata("signal", "\(signal)") }
    return snapshot
  }
}
