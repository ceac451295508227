import UndeadReport

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

  /// Read once; what is wrong with the file is said once, and nothing is left out then.
  package static let options: ReportOptions = {
    let path = file(
      variable: ProcessInfo.processInfo.environment[variable],
      directory: FileManager.default.currentDirectoryPath)
    guard let path else { return ReportOptions() }
    do {
      return try options(path)
    } catch {
      StandardError.write("undead: no suppressions: \(error)\n")
      return ReportOptions()
    }
  }()

  static func options(_ path: String) throws -> ReportOptions {
    var suppressions = Suppressions()
    let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    try suppressions.add(text, file: path, tellsUnused: false)
    return ReportOptions(suppressions: suppressions)
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
