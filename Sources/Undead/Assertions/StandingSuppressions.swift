import UndeadReport
import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What all assertions of a process leave out: leaks of others that its tests cannot help.
///
/// The rules of the file that `UNDEAD_SUPPRESSIONS` names, else of `.undead.supp` in the root of the package
/// (`Documentation/suppressions.md`).
package enum StandingSuppressions {
  static let fileName = ".undead.supp"
  static let variable = "UNDEAD_SUPPRESSIONS"

  /// Read once; what is wrong with the file is reported once, and nothing is left out then.
  package static let options: ReportOptions = {
    let named = ProcessInfo.processInfo.environment[variable]
    let path = file(variable: named, directory: FileManager.default.currentDirectoryPath)
    guard let path else { return ReportOptions() }
    do {
      if named ?? "" == "" { return try foundOptions(path) }
      return try options(path)
    } catch {
      StandardError.write("undead: no suppressions: \(error)\n")
      return ReportOptions()
    }
  }()

  static func options(_ path: String) throws -> ReportOptions {
    try options(Data(contentsOf: URL(filePath: path)), path)
  }

  private static func options(_ content: some Collection<UInt8>, _ path: String) throws -> ReportOptions {
    var suppressions = Suppressions()
    try suppressions.add(String(decoding: content, as: UTF8.self), file: path, tellsUnused: false)
    return ReportOptions(suppressions: suppressions)
  }

  /// Those of a file that nobody named: it must be this user's.
  static func foundOptions(_ path: String) throws -> ReportOptions {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      switch FoundFile.read(fileName, in: String(path.dropLast(fileName.utf8.count + 1))) {
      case .content(let content): return try options(content, path)
      case .doubtful(let doubt):
        let sentence = FoundFile.sentence(path, doubt, instead: "name it with \(variable)")
        StandardError.write("undead: \(sentence)\n")
        return ReportOptions()
      case .missing: return ReportOptions()
      case .unreadable: break
      }
    #endif
    return try options(path)
  }

  /// The file that holds; nil for none.
  ///
  /// - Parameter variable: `none` for no file; nil or empty for that of the package.
  static func file(variable: String?, directory: String) -> String? {
    if let variable, !variable.isEmpty { return variable == "none" ? nil : variable }
    var folder = directory
    while !folder.isEmpty {
      if FileManager.default.fileExists(atPath: "\(folder)/Package.swift") {
        let path = "\(folder)/\(fileName)"
        return FileManager.default.fileExists(atPath: path) ? path : nil
      }
      folder = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
    }
    return nil
  }
}
