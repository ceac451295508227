import Foundation
import PackagePlugin

/// `swift package undead ...`: the tool of this package, for the package that depends on it.
///
/// The tool is the one that `UNDEAD_TOOL` names, that of an artifact bundle that the package has as its binary target `undead`, or the
/// `undead` in `PATH`, if it is of this version. Otherwise, or if `UNDEAD_TOOL` is empty, it is built beside its library.
@main struct UndeadCommandPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    #if !(os(Linux) && arch(x86_64))
      throw Failure("programs are checked for leaks on x86-64 Linux only (Documentation/platforms.md)")
    #endif
    let tool = try toolToTake(context) ?? buildTool(context)
    var arguments = arguments
    switch arguments.first {
    case "test": try prepareTests(&arguments)
    case "run": try prepareRun(&arguments, context)
    default: break
    }
    try start(tool, arguments, in: context.package.directoryURL)
  }

  /// One that is there already.
  private func toolToTake(_ context: PluginContext) throws -> URL? {
    let environment = ProcessInfo.processInfo.environment
    if let path = environment["UNDEAD_TOOL"] { return path.isEmpty ? nil : URL(filePath: path) }
    if let tool = try bundledTool(context.package) { return tool }
    guard let version = Self.version(in: context.package) else { return nil }
    let folders = (environment["PATH"] ?? "").split(separator: ":").map { URL(filePath: String($0)) }
    return folders.map { $0.appending(path: "undead") }.first {
      FileManager.default.isExecutableFile(atPath: $0.path) && Self.output(of: $0, "--version") == version
    }
  }

  private func bundledTool(_ package: Package) throws -> URL? {
    struct Information: Decodable {
      struct Artifact: Decodable { let variants: [Variant] }
      struct Variant: Decodable { let path: String, supportedTriples: [String] }
      let artifacts: [String: Artifact]
    }
    let targets = package.targets.compactMap { $0 as? BinaryArtifactTarget }
    guard let bundle = targets.first(where: { $0.name == "undead" })?.artifactURL else { return nil }
    let information = try JSONDecoder().decode(
      Information.self, from: Data(contentsOf: bundle.appending(path: "info.json")))
    let variants = information.artifacts["undead"]?.variants ?? []
    guard let variant = variants.first(where: { $0.supportedTriples.contains("x86_64-unknown-linux-gnu") }) else {
      throw Failure("\(bundle.path) has no tool for this system")
    }
    return bundle.appending(path: variant.path)
  }

  /// The version of the package that this plugin is of, which `package` is or depends on.
  private static func version(in package: Package) -> String? {
    let header = package.directoryURL.appending(path: "Sources/CUndeadInterface/include/undead_version.h")
    guard let text = try? String(contentsOf: header, encoding: .utf8) else {
      return package.dependencies.lazy.compactMap { version(in: $0.package) }.first
    }
    return text.split(separator: "\"").dropFirst().first.map(String.init)
  }

  private static func output(of tool: URL, _ argument: String) -> String? {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = tool
    process.arguments = [argument]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil, let data = try? pipe.fileHandleForReading.readToEnd() else { return nil }
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func buildTool(_ context: PluginContext) throws -> URL {
    let mark = context.pluginWorkDirectoryURL.appending(path: "built")
    if !FileManager.default.fileExists(atPath: mark.path) {
      FileHandle.standardError.write(Data("undead: building the tool, which takes minutes the first time\n".utf8))
    }
    let tool = try build("undead", .release)
    _ = try build("UndeadPreload", .release)
    // Without the mark the next call only says once more that it takes minutes.
    _ = FileManager.default.createFile(atPath: mark.path, contents: nil)
    return tool
  }

  /// Builds a product, and returns the file that came of it.
  private func build(_ product: String, _ configuration: PackageManager.BuildConfiguration) throws -> URL {
    let result = try packageManager.build(.product(product), parameters: .init(configuration: configuration))
    guard result.succeeded else { throw Failure("\(product) could not be built:\n\(result.logText)") }
    // There may be files of other products, too.
    let names = [product, "lib\(product).so"]
    guard let file = result.builtArtifacts.first(where: { names.contains($0.url.lastPathComponent) }) else {
      throw Failure("building \(product) left nothing")
    }
    return file.url
  }

  /// The tests are built here: `swift test` would wait for the `swift package` that this is part of.
  private func prepareTests(_ arguments: inout [String]) throws {
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    let ofTest = arguments[end...].dropFirst()
    let unwanted = ["-c", "--configuration", "--scratch-path", "--package-path", "--build-path"]
    if let option = ofTest.first(where: { argument in
      unwanted.contains { argument == $0 || argument.hasPrefix("\($0)=") }
    }) {
      throw Failure(
        "\(option): tests are built by 'swift package' here, for debugging; use 'undead test' itself for that")
    }
    let result = try packageManager.build(.all(includingTests: true), parameters: .init(configuration: .debug))
    guard result.succeeded else { throw Failure("the tests could not be built:\n\(result.logText)") }
    arguments = arguments[..<end] + ["--", "--skip-build", "--ignore-lock"] + ofTest
  }

  /// After `--` may stand the name of an executable product, which is built.
  private func prepareRun(_ arguments: inout [String], _ context: PluginContext) throws {
    guard let end = arguments.firstIndex(of: "--"), end + 1 < arguments.count else {
      throw Failure("name a program: swift package undead run [options] -- PRODUCT ARGUMENTS...")
    }
    let name = arguments[end + 1]
    guard context.package.products.contains(where: { $0 is ExecutableProduct && $0.name == name }) else { return }
    arguments[end + 1] = try build(name, .debug).path
  }

  private func start(_ tool: URL, _ arguments: [String], in directory: URL) throws {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.environment = ProcessInfo.processInfo.environment.merging(["UNDEAD_COMMAND": "swift package undead"]) { $1 }
    // Descriptor 0 of a plugin is the pipe to SwiftPM.
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    // SwiftPM gives 1 for whatever a plugin ends with.
    if process.terminationStatus != 0 || process.terminationReason != .exit {
      Diagnostics.error("undead ended with \(process.terminationStatus)")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
