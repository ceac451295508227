#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds function, file and line for the code addresses of a snapshot.
///
/// Debug information is read by LLVM's `llvm-symbolizer`; without it, or where it knows nothing, the symbol tables of
/// the files give the functions. Files that are missing, or are not those that the program ran, give `module+0xoffset`.
public struct Symbolizer: Sendable {
  /// The names that were found, and what the reader of a report has to know about those that were not.
  public struct Result: Sendable, Equatable {
    public var symbols = SymbolTable()
    /// One sentence each, the same in every run.
    public var notes: [String] = []
  }

  private let environment: @Sendable (String) -> String?

  /// Makes a symboliser.
  ///
  /// - Parameters:
  ///   - environment: gives the value of an environment variable (`UNDEAD_SYMBOLIZER` and `PATH` are asked for).
  public init(
    environment: @escaping @Sendable (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
  ) {
    self.environment = environment
  }

  /// Names all code addresses of a snapshot; those that it brings names for keep them.
  public func symbolize(_ snapshot: Snapshot) -> Result {
    let missing = snapshot.lookupAddresses.filter { snapshot.symbols[$0] == nil }
    var result = symbolize(missing, modules: snapshot.modules)
    result.symbols.frames.merge(snapshot.symbols.frames) { _, known in known }
    return result
  }

  /// Names code addresses, as they are looked up: return addresses minus 1, functions as they are.
  public func symbolize(_ addresses: [UInt64], modules: [Snapshot.Module]) -> Result {
    var result = Result()
    guard !addresses.isEmpty else { return result }
    let sorted = modules.sorted { ($0.low, $0.high) < ($1.low, $1.high) }
    var byModule: [Int: [UInt64]] = [:]
    for address in Set(addresses).sorted() {
      if let index = Self.moduleIndex(of: address, in: sorted) {
        byModule[index, default: []].append(address)
      } else {
        result.symbols[address] = [
          Frame(symbol: "0x\(String(address, radix: 16))", module: "", offset: address, system: true)
        ]
      }
    }
    var images: [Image] = []
    for index in byModule.keys.sorted() {
      let module = sorted[index]
      let (file, problem) = Self.open(module)
      if let problem { result.notes.append(problem) }
      images.append(Image(module: module, file: file, addresses: byModule[index]!))
    }
    let locations = debugLocations(of: images, notes: &result.notes)
    for image in images { Self.name(image, locations, into: &result.symbols) }
    return result
  }

  // MARK: Modules

  /// A file of the program and the addresses to name in it.
  private struct Image {
    let module: Snapshot.Module
    /// nil if it is not the file that the program ran.
    let file: ELFFile?
    let addresses: [UInt64]

    func request(_ address: UInt64) -> SymbolizerTool.Request {
      SymbolizerTool.Request(file: module.path, address: address &- module.bias)
    }
  }

  private static func moduleIndex(of address: UInt64, in modules: [Snapshot.Module]) -> Int? {
    var low = 0
    var high = modules.count
    while low < high {
      let middle = (low + high) / 2
      if modules[middle].low <= address { low = middle + 1 } else { high = middle }
    }
    return low > 0 && address < modules[low - 1].high ? low - 1 : nil
  }

  private static func open(_ module: Snapshot.Module) -> (file: ELFFile?, problem: String?) {
    // The kernel's own page of code is no file.
    guard module.path.hasPrefix("/") else { return (nil, nil) }
    do throws(FileProblem) {
      guard let file = try ELFFile(path: module.path) else {
        return (nil, "no names for '\(module.path)': it is no longer an executable or library; build it again")
      }
      if !module.buildID.isEmpty && file.buildID != module.buildID {
        return (nil, "no names for '\(module.path)': it was built anew since the program ran; run the program again")
      }
      return (file, nil)
    } catch {
      return (nil, "no names for '\(module.path)': \(error.reason); the report shows offsets in it")
    }
  }

  // MARK: Names

  private func debugLocations(
    of images: [Image], notes: inout [String]
  ) -> [SymbolizerTool.Request: [SymbolizerTool.Location]] {
    // The tool's input has no way to quote these.
    let requests = images.filter { $0.file != nil && !$0.module.path.contains { $0 == "\"" || $0 == "\n" } }
      .flatMap { image in image.addresses.map(image.request) }
    guard !requests.isEmpty else { return [:] }
    guard let tool = SymbolizerTool.find(environment: environment) else {
      let chosen = environment("UNDEAD_SYMBOLIZER").map { "UNDEAD_SYMBOLIZER=\($0) cannot be run" }
      notes.append(
        "no files and lines: \(chosen ?? "there is no llvm-symbolizer"); put the 'swift' of a toolchain in PATH, "
          + "install the package 'llvm', or name one with UNDEAD_SYMBOLIZER")
      return [:]
    }
    let answers = tool.locations(of: requests)
    let failed = answers.count { $0 == nil }
    if failed > 0 {
      notes.append(
        "no files and lines for \(failed) of \(requests.count) code addresses: '\(tool.path)' failed; "
          + "try another one with UNDEAD_SYMBOLIZER")
    }
    return Dictionary(zip(requests, answers.map { $0 ?? [] })) { first, _ in first }
  }

  private static func name(
    _ image: Image, _ locations: [SymbolizerTool.Request: [SymbolizerTool.Location]], into symbols: inout SymbolTable
  ) {
    var functions: ELFFunctionTable?
    for address in image.addresses {
      let request = image.request(address)
      var found = locations[request] ?? []
      if found.isEmpty || found.allSatisfy({ $0.function.isEmpty }) {
        functions = functions ?? image.file?.functions()
        if let function = functions?.function(at: request.address) {
          found = [.init(function: function.name, file: found.last?.file, line: found.last?.line)]
        }
      }
      symbols[address] = frames(found, image.module, offset: request.address)
    }
  }

  private static func frames(
    _ locations: [SymbolizerTool.Location], _ module: Snapshot.Module, offset: UInt64
  ) -> [Frame] {
    let name = module.path.split(separator: "/").last.map(String.init) ?? module.path
    let nameless = "\(name)+0x\(String(offset, radix: 16))"
    var frames: [Frame] = []
    for location in locations {
      let symbol = location.function.isEmpty ? nameless : Demangler.readable(location.function)
      // A forwarder around a function that was inlined into it says nothing new.
      if location.line == nil, frames.last?.symbol == symbol { continue }
      frames.append(
        Frame(
          symbol: symbol, file: location.file, line: location.line, module: name, offset: offset, inlined: true,
          system: module.isSystem))
    }
    if frames.isEmpty { frames = [Frame(symbol: nameless, module: name, offset: offset, system: module.isSystem)] }
    frames[frames.count - 1].inlined = false
    return frames
  }
}
