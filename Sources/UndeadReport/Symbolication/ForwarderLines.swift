/// Finds the lines of closures behind the forwarders that the compiler makes for them.
///
/// The function of a closure value with captures is a "partial apply forwarder", which has no line of its own. The
/// closure is a function of nearly the same name, or was inlined into the forwarder. Equal closures are one function of
/// no line: then the place where the function around the closure takes the address of the forwarder is near.
enum ForwarderLines {
  /// A forwarder without a line.
  private struct Forwarder {
    var image: Int
    /// As loaded.
    var address: UInt64
    /// Mangled name of the closure.
    var closure: String
  }

  /// Most places of a forwarder at which an inlined closure is looked for.
  private static let probes: UInt64 = 64
  private static let maximumRequests = 10_000
  /// From where an address is loaded to code around it, which may have a line where that has none.
  private static let distances: [Int64] = [0, 7, 14, -5, -10, 21]

  static func add(to images: inout [SymbolizedImage], _ tool: SymbolizerTool) {
    addOwn(to: &images, tool)
    addOfMakers(to: &images, tool)
  }

  private static func addOfMakers(to images: inout [SymbolizedImage], _ tool: SymbolizerTool) {
    var requests: [SymbolizerTool.Request] = []
    var owners: [Forwarder] = []
    for index in images.indices where images[index].canBeAsked && !images[index].module.isSystem {
      guard let file = images[index].file else { continue }
      let forwarders = forwarders(in: images[index], index)
      // The value of an asynchronous closure is the address of a record.
      let bias = images[index].module.bias
      let uses = file.places(thatLoad: Set(forwarders.map { $0.address &- bias }))
      for forwarder in forwarders {
        for place in uses[forwarder.address &- bias] ?? [] where requests.count < maximumRequests {
          for distance in distances {
            requests.append(.init(file: file.path, address: place &+ UInt64(bitPattern: distance)))
            owners.append(forwarder)
          }
        }
      }
    }
    for (owner, answer) in zip(owners, tool.answers(to: requests).locations) {
      guard let found = answer?.first(where: { isMaker($0.function, of: owner.closure) }),
        let file = found.line == nil ? found.startFile : found.file, let line = found.line ?? found.startLine,
        var known = images[owner.image].locations[owner.address], let last = known.indices.last,
        known[last].line == nil || (known[last].isNear && isStart(known[last], of: found))
      else { continue }
      known[last].file = file
      known[last].line = line
      known[last].isNear = true
      images[owner.image].locations[owner.address] = known
    }
  }

  /// True for the function around a closure, or a copy of it for other types.
  private static func isMaker(_ function: String, of closure: String) -> Bool {
    guard function.hasPrefix("$s") else { return false }
    if closure.hasPrefix(function) { return true }
    let name = FunctionName.withoutThunks(Demangler.readable(function))
    return FunctionName.withoutThunks(Demangler.readable(closure)).hasSuffix(" in \(name)")
  }

  /// True if no more than the start of the function is known so far.
  private static func isStart(_ known: SymbolizerTool.Location, of maker: SymbolizerTool.Location) -> Bool {
    maker.line != nil && known.line == maker.startLine
  }

  private static func addOwn(to images: inout [SymbolizedImage], _ tool: SymbolizerTool) {
    var requests: [SymbolizerTool.Request] = []
    var owners: [Forwarder] = []
    for index in images.indices where images[index].canBeAsked {
      let forwarders = forwarders(in: images[index], index)
      let closures = images[index].file?.addresses(ofFunctions: Set(forwarders.map(\.closure))) ?? [:]
      let functions = closures.count < forwarders.count ? images[index].file?.functions() : nil
      for forwarder in forwarders {
        let start = images[index].linked(forwarder.address)
        let places = closures[forwarder.closure].map { [$0] } ?? places(from: start, in: functions)
        for place in places where requests.count < maximumRequests {
          requests.append(.init(file: images[index].file?.path ?? images[index].module.path, address: place))
          owners.append(forwarder)
        }
      }
    }
    for (owner, answer) in zip(owners, tool.answers(to: requests).locations) {
      // Past the end of a forwarder stands some other function.
      guard let found = answer?.first(where: { $0.function == owner.closure }),
        let line = found.startLine ?? found.line,
        let file = found.file, var known = images[owner.image].locations[owner.address], let last = known.indices.last,
        known[last].line == nil
      else { continue }
      known[last].file = file
      known[last].line = line
      images[owner.image].locations[owner.address] = known
    }
  }

  /// Places all over the function that starts at `start`.
  static func places(from start: UInt64, in functions: ELFFunctionTable?) -> [UInt64] {
    let size = min(functions?.function(at: start)?.size ?? probes, 16 * probes)
    let (end, overflow) = start.addingReportingOverflow(max(size, 1))
    return overflow ? [start] : Array(stride(from: start, to: end, by: Int(max(1, size / probes))))
  }

  private static func forwarders(in image: SymbolizedImage, _ index: Int) -> [Forwarder] {
    image.addresses.compactMap { address in
      guard let locations = image.locations[address], locations.allSatisfy({ $0.line == nil }),
        let closure = locations.last.flatMap({ closure(ofForwarder: $0.function) })
      else { return nil }
      return Forwarder(image: index, address: address, closure: closure)
    }
  }

  /// The closure's mangled name: that of the forwarder without its ending `TA`; nil for other functions.
  static func closure(ofForwarder name: String) -> String? {
    // The optimiser numbers its copies: "...U_TA.8".
    let plain = name.split(separator: ".", maxSplits: 1).first ?? ""
    return plain.hasSuffix("TA") && plain.hasPrefix("$s") ? String(plain.dropLast(2)) : nil
  }
}
