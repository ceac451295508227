/// A file of the program, the addresses to name in it, and what is known of them so far.
struct SymbolizedImage {
  let module: Snapshot.Module
  /// nil if it is not the file that the program ran.
  let file: ELFFile?
  /// As loaded.
  let addresses: [UInt64]
  /// By address as loaded; innermost inlined first.
  var locations: [UInt64: [SymbolizerTool.Location]] = [:]

  /// False for files that the symboliser's input cannot name: it has no way to quote these, and takes a long line for two.
  var canBeAsked: Bool {
    file.map { $0.path.utf8.count < 900 && !$0.path.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") } } ?? false
  }

  /// Where the code of a function value or a return address is in the file, as linked.
  func linked(_ address: UInt64) -> UInt64 {
    let linked = address &- module.bias
    return file?.code(of: linked) ?? linked
  }

  func request(_ address: UInt64) -> SymbolizerTool.Request {
    SymbolizerTool.Request(file: file?.path ?? module.path, address: linked(address))
  }

  /// Fills in the functions that debug information does not know.
  mutating func addNamesFromSymbolTable() {
    guard let file else { return }
    let nameless = addresses.filter { address in locations[address]?.allSatisfy { $0.function.isEmpty } ?? true }
    guard !nameless.isEmpty else { return }
    let functions = file.functions()
    for address in nameless {
      guard let function = functions.function(at: linked(address)) else { continue }
      let known = locations[address]?.last
      locations[address] = [.init(function: function.name, file: known?.file, line: known?.line)]
    }
  }

  /// The frames of an address; at least one.
  func frames(at address: UInt64) -> [Frame] {
    let name = module.path.split(separator: "/").last.map(String.init) ?? module.path
    let offset = address &- module.bias
    let nameless = "\(name)+0x\(String(offset, radix: 16))"
    var frames: [Frame] = []
    for location in locations[address] ?? [] {
      let symbol = location.function.isEmpty ? nameless : Demangler.readable(location.function)
      // A forwarder around a function that was inlined into it says nothing new.
      if location.line == nil, frames.last?.symbol == symbol { continue }
      // The C library's debug information has paths relative to a build directory that nobody has.
      let file = location.file.flatMap { module.isSystem && !$0.hasPrefix("/") ? nil : $0 }
      frames.append(
        Frame(
          symbol: symbol, file: file, line: file == nil ? nil : location.line, module: name, offset: offset,
          inlined: true, system: module.isSystem, isNear: location.isNear))
    }
    if frames.isEmpty { frames = [Frame(symbol: nameless, module: name, offset: offset, system: module.isSystem)] }
    frames[frames.count - 1].inlined = false
    return frames
  }
}
