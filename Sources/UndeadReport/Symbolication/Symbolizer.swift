import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds function, file and line for the code addresses of a snapshot.
///
/// Debug information is read by LLVM's `llvm-symbolizer`; without it, or where it knows nothing, the symbol tables of
/// the files give the functions. Files that are missing, or are not those that the program ran, give `module+0xoffset`.
package struct Symbolizer: Sendable {
  /// The names that were found, and what the reader of a report has to know about those that were not.
  package struct Result: Sendable, Equatable {
    package init(symbols: SymbolTable = SymbolTable(), notes: [String] = []) {
      self.symbols = symbols
      self.notes = notes
    }

    package var symbols = SymbolTable()
    /// One sentence each, the same in every run.
    package var notes: [String] = []
  }

  private let environment: @Sendable (String) -> String?
  package let files: @Sendable (String) -> String
  /// False to name functions by the symbol tables alone: no other process is needed then.
  package var asksTool = true

  /// Makes a symboliser.
  ///
  /// - Parameters:
  ///   - environment: gives the value of an environment variable (`UNDEAD_SYMBOLIZER`, `UNDEAD_SYMBOLIZER_TIMEOUT` and `PATH` are asked
  ///     for).
  ///   - files: where a file of the program is found: it may have run in another file system.
  package init(
    environment: @escaping @Sendable (String) -> String? = { ProcessInfo.processInfo.environment[$0] },
    files: @escaping @Sendable (String) -> String = { $0 }
  ) {
    self.environment = environment
    self.files = files
  }

  /// Names all code addresses of a snapshot; those that it brings names for keep them.
  package func symbolize(_ snapshot: LeakSnapshot) -> Result {
    let missing = snapshot.lookupAddresses.filter { snapshot.symbols[$0] == nil }
    var result = symbolize(missing, modules: snapshot.modules, closures: snapshot.functionValues)
    result.symbols.frames.merge(snapshot.symbols.frames) { _, known in known }
    return result
  }

  /// Names code addresses, as they are looked up: return addresses minus 1, functions as they are.
  ///
  /// - Parameter closures: the functions among them of which also what they capture is to be named.
  package func symbolize(
    _ addresses: [UInt64], modules: [LeakSnapshot.Module], closures: Set<UInt64> = []
  ) -> Result {
    var result = Result()
    var images = Self.images(of: addresses, modules, files, &result)
    let tool = asksTool && images.contains { $0.file != nil } ? findTool(&result.notes) : nil
    var hung = false
    if let tool { hung = Self.locate(&images, tool, &result.notes) }
    for index in images.indices { images[index].addNamesFromSymbolTable() }
    if let tool, !hung {
      ForwarderLines.add(to: &images, tool)
      NearestLines.add(to: &images, tool)
      ResumedLines.add(to: &images, tool)
      result.symbols.variables = CapturedNames.find(closures, in: images, tool)
    }
    for image in images {
      for address in image.addresses { result.symbols[address] = image.frames(at: address) }
    }
    return result
  }

  /// The functions of the program at code addresses, with module and type, those around closures instead of these.
  ///
  /// By the symbol tables alone: inlined calls are not seen, but no other process is needed.
  package static func programFunctions(at addresses: [UInt64], modules: [Snapshot.Module]) -> [UInt64: String] {
    var unused = Result()
    var functions: [UInt64: String] = [:]
    for var image in images(of: addresses, modules.filter { !$0.isSystem }, { $0 }, &unused) {
      image.addNamesFromSymbolTable()
      for address in image.addresses {
        // A program has copies of generic functions of the toolchain.
        guard let frame = image.frames(at: address).last, !SymbolText.isToolchain(frame) else { continue }
        functions[address] = RetainPaths.function(of: frame)
      }
    }
    return functions
  }

  // MARK: Modules

  private static func images(
    of addresses: [UInt64], _ modules: [Snapshot.Module], _ files: (String) -> String, _ result: inout Result
  ) -> [SymbolizedImage] {
    let sorted = modules.ordered { ($0.low, $0.high) < ($1.low, $1.high) }
    var byModule: [Int: [UInt64]] = [:]
    for address in Set(addresses).sorted() {
      if let index = moduleIndex(of: address, in: sorted) {
        byModule[index, default: []].append(address)
      } else {
        let name = "0x\(String(address, radix: 16))"
        result.symbols[address] = [Frame(symbol: name, module: "", offset: address, system: true)]
      }
    }
    return byModule.ordered { $0.key < $1.key }.map { index, addresses in
      let (file, problem) = open(sorted[index], files)
      if let problem { result.notes.append(problem) }
      return SymbolizedImage(module: sorted[index], file: file, addresses: addresses)
    }
  }

  private static func moduleIndex(of address: UInt64, in modules: [Snapshot.Module]) -> Int? {
    let next = modules.partitioningIndex { $0.low > address }
    return next > 0 && address < modules[next - 1].high ? next - 1 : nil
  }

  private static func open(
    _ module: Snapshot.Module, _ files: (String) -> String
  ) -> (file: ELFFile?, problem: String?) {
    // The kernel's own page of code is no file.
    guard module.path.hasPrefix("/") else { return (nil, nil) }
    do throws(FileProblem) {
      guard let file = try ELFFile(path: files(module.path)) else {
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

  // MARK: Debug information

  private func findTool(_ notes: inout [String]) -> SymbolizerTool? {
    if let tool = SymbolizerTool.find(environment: environment) { return tool }
    let chosen = environment("UNDEAD_SYMBOLIZER").map { "UNDEAD_SYMBOLIZER=\($0) cannot be run" }
    notes.append(
      "no files and lines: \(chosen ?? "there is no llvm-symbolizer"); put the 'swift' of a toolchain in PATH, "
        + "install the package 'llvm', or name one with UNDEAD_SYMBOLIZER")
    return nil
  }

  /// - Returns: true if the tool hung.
  private static func locate(
    _ images: inout [SymbolizedImage], _ tool: SymbolizerTool, _ notes: inout [String]
  ) -> Bool {
    var requests: [SymbolizerTool.Request] = []
    var owners: [(image: Int, address: UInt64)] = []
    for index in images.indices where images[index].canBeAsked {
      for address in images[index].addresses {
        requests.append(images[index].request(address))
        owners.append((index, address))
      }
    }
    let answers = tool.answers(to: requests)
    for (owner, answer) in zip(owners, answers.locations) {
      images[owner.image].locations[owner.address] = answer ?? []
    }
    let failed = answers.locations.count { $0 == nil }
    if failed > 0 {
      let what = answers.hung ? "said nothing for \(Quantity.of(tool.patience, "second"))" : "failed"
      let longer = answers.hung ? "give it longer with UNDEAD_SYMBOLIZER_TIMEOUT, or " : ""
      notes.append(
        "no files and lines for \(failed) of \(requests.count) code addresses: '\(tool.path)' \(what); "
          + longer + "try another one with UNDEAD_SYMBOLIZER")
    }
    return answers.hung
  }
}
