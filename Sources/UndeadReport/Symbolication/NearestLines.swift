/// Finds a line near code for which the compiler wrote line 0: it belongs to no line, or to several that were merged.
///
/// The tool has an option for that (`--skip-line-zero`), on which the one of Swift 6.3 crashes.
enum NearestLines {
  private static let distances: [UInt64] = [1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128]
  private static let maximumRequests = 10_000

  static func add(to images: inout [SymbolizedImage], _ tool: SymbolizerTool) {
    var requests: [SymbolizerTool.Request] = []
    var owners: [(image: Int, address: UInt64)] = []
    for index in images.indices where images[index].canBeAsked && !images[index].module.isSystem {
      for address in images[index].addresses where images[index].locations[address].map(isUnclear) ?? false {
        let start = images[index].request(address)
        for distance in distances where requests.count < maximumRequests {
          for near in [start.address &- distance, start.address &+ distance] {
            requests.append(.init(file: start.file, address: near))
            owners.append((index, address))
          }
        }
      }
    }
    for (owner, answer) in zip(owners, tool.answers(to: requests).locations) {
      guard let answer, var known = images[owner.image].locations[owner.address] else { continue }
      if isResumed(known) {
        if answer.count > 1, answer.last?.function == known[0].function, answer.first?.line == known[0].line {
          known = answer
        }
        images[owner.image].locations[owner.address] = known
        continue
      }
      for place in known.indices where isZero(known[place]) {
        // What stands before the function is no line of it.
        let first = known[place].startLine ?? 0
        guard let near = answer.first(where: { $0.function == known[place].function && $0.line ?? -1 >= first }) else {
          continue
        }
        known[place].file = near.file
        known[place].line = near.line
        known[place].isOfNoLine = false
        known[place].isNear = true
      }
      images[owner.image].locations[owner.address] = known
    }
  }

  private static func isUnclear(_ locations: [SymbolizerTool.Location]) -> Bool {
    locations.contains(where: isZero) || isResumed(locations)
  }

  /// True for the start of what is left of an asynchronous function after a wait: it may have the line of a call that was inlined
  /// there, and not yet its name.
  private static func isResumed(_ locations: [SymbolizerTool.Location]) -> Bool {
    guard locations.count == 1, let known = locations.first, known.line != nil, let start = known.startLine,
      known.function.hasSuffix("_"), known.function.contains("TY") || known.function.contains("TQ")
    else { return false }
    return known.line ?? 0 < start
  }

  /// What the compiler makes without a source has no line anywhere: thunks, witnesses, allocating initialisers.
  private static func isZero(_ location: SymbolizerTool.Location) -> Bool {
    location.isOfNoLine && !["TA", "TR", "TW", "Tw", "fC", "WOh", "WOe"].contains(where: location.function.hasSuffix)
  }
}
