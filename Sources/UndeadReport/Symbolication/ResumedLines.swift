/// Finds a line for what is left of an asynchronous function after a wait, where that has none.
///
/// The compiler splits the function at each wait; "fooTY0_" and "fooTQ1_" are parts of "foo", in the order of the source. A part that
/// only ends the function may have no line at all. The last line of the part before it is that of the wait.
enum ResumedLines {
  private struct Part {
    var image: Int
    /// As loaded.
    var address: UInt64
    /// What the parts before it may be called.
    var before: [String]
  }

  private static let maximumRequests = 10_000

  static func add(to images: inout [SymbolizedImage], _ tool: SymbolizerTool) {
    var requests: [SymbolizerTool.Request] = []
    var owners: [(part: Part, name: String)] = []
    for index in images.indices where images[index].canBeAsked && !images[index].module.isSystem {
      let parts = parts(in: images[index], index)
      guard !parts.isEmpty, let file = images[index].file else { continue }
      let starts = file.addresses(ofFunctions: Set(parts.flatMap(\.before)))
      let functions = file.functions()
      for part in parts {
        guard let name = part.before.first(where: { starts[$0] != nil }), let start = starts[name] else { continue }
        for place in ForwarderLines.places(from: start, in: functions) where requests.count < maximumRequests {
          requests.append(.init(file: file.path, address: place))
          owners.append((part, name))
        }
      }
    }
    // The last answer for a part is the one that stays.
    for (owner, answer) in zip(owners, tool.answers(to: requests).locations) {
      guard let found = answer?.first(where: { $0.function == owner.name && $0.line != nil }) else { continue }
      guard var known = images[owner.part.image].locations[owner.part.address], let last = known.indices.last else {
        continue
      }
      known[last].file = found.file
      known[last].line = found.line
      known[last].isNear = true
      images[owner.part.image].locations[owner.part.address] = known
    }
  }

  private static func parts(in image: SymbolizedImage, _ index: Int) -> [Part] {
    image.addresses.compactMap { address in
      guard let locations = image.locations[address], locations.allSatisfy({ $0.line == nil }),
        let before = locations.last.flatMap({ names(before: $0.function) })
      else { return nil }
      return Part(image: index, address: address, before: before)
    }
  }

  /// Nil for a name that is not that of a part; forwarders have no lines anywhere.
  static func names(before name: String) -> [String]? {
    guard name.hasPrefix("$s"), name.hasSuffix("_") else { return nil }
    let end = name.dropLast()
    let digits = String(end.reversed().prefix { $0.isNumber }.reversed())
    let marked = end.dropLast(digits.count)
    guard let number = Int(digits), marked.hasSuffix("TQ") || marked.hasSuffix("TY") else { return nil }
    let function = String(marked.dropLast(2))
    guard !function.hasSuffix("TA"), !function.hasSuffix("TR") else { return nil }
    return number == 0 ? [function] : ["TY", "TQ"].map { "\(function)\($0)\(number - 1)_" }
  }
}
