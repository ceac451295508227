import Foundation
import PackagePlugin

/// `swift package undead ...`: the tool of this package, built beside its library, for the package that depends on it.
@main struct UndeadCommandPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    #if !(os(Linux) && arch(x86_64))
      throw Failure("programs are checked for leaks on x86-64 Linux only (Documentation/platforms.md)")
    #endif
    let tool = try buildTool(context)
    var arguments = arguments
    switch arguments.first {
    case "test": try prepareTests(&arguments)
    case "run": try prepareRun(&arguments, context)
    default: break
    }
    try start(tool, arguments, in: context.package.directoryURL)
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
