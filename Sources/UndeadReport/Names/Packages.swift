/// Which code is a dependency's, by where its source files lie: what SwiftPM or Xcode fetched is not the user's to change.
package struct Packages: Sendable, Equatable {
  /// The package of each module that only dependencies have files of.
  private var packages: [String: String] = [:]
  /// Where the checked program lies: a package that is built in a checkout is the user's there.
  private let program: String

  /// Knows of no dependency.
  init() { program = "" }

  /// - Parameters:
  ///   - symbols: the code that is known of the program.
  ///   - program: path of the executable.
  init(_ symbols: SymbolTable, program: String) {
    self.program = program
    var files: [String: String?] = [:]
    var own: Set<String> = []
    for frames in symbols.frames.values {
      for frame in frames where !frame.system {
        guard let file = frame.file, frame.line != nil else { continue }
        let package = files[file] ?? package(ofFile: file)
        files[file] = .some(package)
        guard let module = FunctionName(frame.symbol).module else { continue }
        if let package { packages[module] = package } else { own.insert(module) }
      }
    }
    for case (let file, let package?) in files {
      if let module = Self.module(ofFile: file) { packages[module] = packages[module] ?? package }
    }
    // Code that macros and inlining bring into a file counts for the module that has files of its own.
    for module in own { packages[module] = nil }
  }

  /// The dependency that a file belongs to: "swift-nio"; nil for a file of the user's own.
  func package(ofFile file: String) -> String? {
    for folder in Self.folders {
      var rest = file[...]
      while let found = rest.firstPlainRange(of: folder) {
        rest = rest[rest.index(before: found.upperBound)...]
        let name = rest.dropFirst().prefix { $0 != "/" }
        guard !name.isEmpty, isScratch(file[..<found.lowerBound]) else { continue }
        if !program.hasPrefix("\(file[..<found.upperBound])\(name)/") { return String(name) }
      }
    }
    return nil
  }

  /// True for the folder of a package manager: hidden, of Xcode's name, or with the program that it built in it.
  private func isScratch(_ folder: Substring) -> Bool {
    let name = folder.split(separator: "/").last ?? ""
    if name.hasPrefix(".") || name == "SourcePackages" { return true }
    guard program.hasPrefix("\(folder)/") else { return false }
    let parts = program.dropFirst(folder.count + 1).split(separator: "/")
    return parts.prefix(2).contains { $0 == "debug" || $0 == "release" }
  }

  /// The dependency that a frame's function belongs to.
  func package(of frame: Frame) -> String? {
    let name = FunctionName(frame.symbol)
    let known = name.extender == nil ? name.module.flatMap(known) : nil
    if frame.line != nil, let file = frame.file { return package(ofFile: file) ?? known }
    return name.module.flatMap { packages[$0] } ?? known
  }

  /// The dependency that declares a type.
  func package(ofType type: String) -> String? {
    guard !packages.isEmpty, let dot = type.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    return packages[String(type[..<dot])]
  }

  /// The package of a widely used module, wherever its sources lie, unless the program is built there: its functions are not shown
  /// in place of the user's. What is said of its objects depends on the place of the sources alone.
  private func known(_ module: String) -> String? {
    guard let package = KnownLibraries.package(ofModule: module), !program.contains("/\(package)") else { return nil }
    return package
  }

  /// Where package managers put what they fetch.
  private static let folders = ["/checkouts/", "/registry/downloads/"]

  /// "/app/.build/checkouts/swift-nio/Sources/NIOCore/Channel.swift" -> "NIOCore".
  private static func module(ofFile file: String) -> String? {
    let parts = file.split(separator: "/")
    guard let sources = parts.lastIndex(of: "Sources"), sources + 2 < parts.count else { return nil }
    return String(parts[sources + 1])
  }
}

extension Frame {
  /// True for a function that the user wrote: neither the toolchain's, nor a dependency's, nor made by a compiler.
  var isOfUser: Bool { !system && package == nil && !isGenerated }
}

extension Reference {
  /// True if the closure that the field holds was written by the user, wherever the field is declared.
  var holdsOwnClosure: Bool { closure.map { !$0.system && $0.package == nil } ?? false }
  /// True for `self.method` where a closure is expected.
  var isMethodReference: Bool { closure.map { SymbolText.isMethodReference($0.symbol) } ?? false }
  /// True for an argument that the compiler makes a closure of.
  var isAutoclosure: Bool { !isMethodReference && closure?.symbol.hasPrefix("implicit closure #") ?? false }
  /// True if the user can change the reference: their field, or their closure in a field of a library.
  var isOfUser: Bool { package == nil && !ToolchainModules.declare(type) || holdsOwnClosure }
  /// True for what the runtime makes, which belongs to nobody: tasks, closure contexts, boxes.
  var isOfRuntime: Bool { TypeName.isOfRuntime(type) }
}

extension TypeName {
  /// True for what no module declares: "Task", "closure context (captures App.Owner)". Not for a type that somebody declares
  /// in one of somebody else: "(extension in App):Swift.Result.Inner".
  static func isOfRuntime(_ type: String) -> Bool {
    if type.hasPrefix("(extension in ") { return false }
    guard let dot = type.firstIndex(of: ".") else { return true }
    return type[..<dot].contains(" ")
  }
}

extension [Reference] {
  /// The dependency that all objects of a cycle belong to; nil if some are the user's.
  var package: String? {
    guard let package = lazy.compactMap(\.package).first else { return nil }
    let areForeign = allSatisfy { reference in
      !reference.holdsOwnClosure
        && (reference.package != nil || ToolchainModules.declare(reference.type) || reference.isOfRuntime)
    }
    return areForeign ? package : nil
  }
}

extension Backtrace {
  /// The first function that the user wrote, if there is one, and what it called of a dependency.
  package var start: (frame: Frame, called: Frame?)? {
    let position =
      frames.firstIndex { $0.isOfUser && !SymbolText.isAllocatingInitializer($0.symbol) }
      ?? frames.firstIndex(where: \.isOfUser)
    return position.map { (frames[$0], frames[..<$0].last { $0.package != nil }) }
  }
}
