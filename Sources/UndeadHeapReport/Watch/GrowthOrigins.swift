import UndeadHeap
import UndeadReport

/// Where the objects of types that grow are: what contains them, and where they were allocated.
package struct GrowthOrigins: Sendable, Equatable {
  /// A container or an allocation site, with how many objects of the type are of it.
  package struct Line: Sendable, Equatable {
    package var text: String
    package var count: Int
  }

  /// Of one type.
  package struct Origin: Sendable, Equatable {
    /// The most important ones first.
    package var containers: [Line] = []
    package var sites: [Line] = []
    /// The type that has nearly all of them in its fields.
    package var owner: String?
  }

  package private(set) var origins: [String: Origin] = [:]

  /// Lines for a type: the rest is not shown.
  static let most = 3

  /// None, where no heap could be had.
  package init() {}

  init(_ origins: [String: Origin]) { self.origins = origins }

  /// Looks types up in a heap.
  ///
  /// - Parameters:
  ///   - types: names of the types that grew.
  ///   - heap: a heap that was taken after the growth.
  ///   - symbolizer: names the places of allocations; nil to use only the names in the file.
  ///   - options: how these are shown.
  package init(of types: [String], in heap: LoadedHeap, symbolizer: Symbolizer?, options: ReportTextOptions) {
    let found = TypeOrigins.count(types, in: heap)
    let stacks = found.mapValues { counts in
      counts.stacks.filter { $0.key != Snapshot.none }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .prefix(Self.mostStacks)
    }
    let places = Places(
      heap.file.snapshot, stacks: stacks.values.flatMap { $0.map(\.key) }, symbolizer: symbolizer, options: options)
    for (name, counts) in found {
      var sites: [String: Int] = [:]
      for (stack, count) in stacks[name] ?? [] {
        if let place = places.name(of: stack) { sites[place, default: 0] += count }
      }
      origins[name] = Origin(containers: Self.lines(counts.containers), sites: Self.lines(sites), owner: counts.owner)
    }
  }

  /// The type of which a type that grows is a part, among others that grow; nil if it grows by itself.
  func owner(of type: String, among types: Set<String>) -> String? {
    var owner: String?
    var seen: Set = [type]
    while let next = (origins[owner ?? type]?.owner ?? Number.element(ofStorage: owner ?? type)), types.contains(next) {
      // In a tree each type grows because the other one does.
      guard seen.insert(next).inserted else { return nil }
      owner = next
    }
    return owner
  }

  /// Of a type: others are not named.
  private static let mostStacks = 50

  /// Names of the places of allocations.
  private struct Places {
    private let frames: FrameNames
    private let options: ReportTextOptions

    init(_ snapshot: Snapshot, stacks: [Snapshot.Index], symbolizer: Symbolizer?, options: ReportTextOptions) {
      var symbols = snapshot.symbols
      let addresses = Set(stacks.flatMap { snapshot.addresses(ofStack: $0) }.filter { $0 > 0 }.map { $0 - 1 })
      let missing = addresses.filter { symbols[$0] == nil }
      if let symbolizer, !missing.isEmpty {
        let found = symbolizer.symbolize(missing.sorted(), modules: snapshot.modules)
        symbols.frames.merge(found.symbols.frames) { known, _ in known }
      }
      frames = FrameNames(snapshot, symbols: symbols)
      self.options = options
    }

    func name(of stack: Snapshot.Index) -> String? {
      guard let frame = frames.backtrace(stack).site else { return nil }
      let place = frame.line.map { line in frame.file.map { " at \(StackText.shortened($0, options)):\(line)" } ?? "" }
      return StackText.function(frame) + (place ?? " (\(frame.module))")
    }
  }

  private static func lines(_ counts: [String: Int]) -> [Line] {
    counts.map { Line(text: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.text) < ($0.count, $1.text) }.prefix(most).map(\.self)
  }
}
