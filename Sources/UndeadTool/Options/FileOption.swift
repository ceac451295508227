import UndeadSystem

/// What an option may do in a file that came with a package: the author of the package wrote it, not the user.
///
/// An option that is not listed here may not stand in a file.
enum FileOption {
  /// It changes what is shown, or how a program is looked at.
  case plain
  /// It names a file that is read.
  case input
  /// It names a file that is written: one in the folder of the file, which the package does not bring.
  case output
  /// It names a file that is read, and written where the user says so.
  case baseline
  /// It is for the user alone: why, as words after the option.
  case refused(String)

  private static let plainOptions: Set = [
    "address", "all", "by", "color", "depth", "every", "exit-code", "fail-on", "fail-on-growth", "fold-storage", "for",
    "explain", "format", "generate-suppressions", "leaks", "min-bytes", "min-count", "no-fold-storage", "no-stacks",
    "no-suppressions", "quiet", "sample", "snapshot-at", "snapshot-every", "snapshot-keep", "snapshot-signal", "stacks",
    "timeout", "top", "type", "verbose", "warm-up", "zombie-age", "zombie-allow", "zombie-bytes", "zombie-count",
    "zombie-deny", "zombie-guard", "zombie-mode", "zombie-policy", "zombie-rate", "zombie-types", "zombies",
  ]
  private static let outputOptions: Set = ["output", "report", "save", "heap"]
  private static let inputOptions: Set = ["suppressions"]

  /// - Parameter name: the long one, with its dashes.
  init?(_ name: String) {
    let word = String(name.drop { $0 == "-" })
    switch word {
    case _ where Self.plainOptions.contains(word): self = .plain
    case _ where Self.outputOptions.contains(word): self = .output
    case _ where Self.inputOptions.contains(word): self = .input
    case "baseline": self = .baseline
    case "update-baseline": self = .refused("accepts all that is found")
    case "sysroot", "binaries": self = .refused("names code that is put into a process")
    case "on-finding": self = .refused("runs a command")
    case "stop": self = .refused("changes the process that is looked at")
    default: return nil
    }
  }

  /// Why a file may not be named in a file of `folder`, as words after the name; nil if it may.
  ///
  /// - Parameter path: absolute.
  func obstacle(to path: String, in folder: String) -> String? {
    switch self {
    case .plain, .refused: nil
    case .input: Self.isRegularOrMissing(path) ? nil : "is no regular file"
    case .output: Self.obstacle(to: path, in: folder, replacesTracked: false)
    case .baseline: Self.obstacle(to: path, in: folder, replacesTracked: true)
    }
  }

  private static func isRegularOrMissing(_ path: String) -> Bool {
    System.status(of: path).map { $0.st_mode & S_IFMT == S_IFREG } ?? true
  }

  private static func obstacle(to path: String, in folder: String, replacesTracked: Bool) -> String? {
    let outside = "is not in the folder of that file"
    let start = folder.hasSuffix("/") ? folder : "\(folder)/"
    guard path.hasPrefix(start) else { return outside }
    let parts = path.dropFirst(start.count).split(separator: "/").map(String.init).filter { $0 != "." }
    guard let name = parts.last, !path.hasSuffix("/") else { return "is a folder" }
    guard !parts.contains(".."), parts.allSatisfy(Folder.isPlain) else { return outside }
    if parts.contains(where: { $0.lowercased() == ".git" }) { return "belongs to git" }
    guard var place = Folder(folder) else { return errno == ENOENT ? nil : SystemError.text() }
    for part in parts.dropLast() {
      guard let status = place.status(of: part) else { return errno == ENOENT ? nil : SystemError.text() }
      if status.st_mode & S_IFMT == S_IFLNK { return "lies behind the symbolic link '\(part)'" }
      if let doubt = Ownership.doubt(status) { return "lies in a folder that \(doubt)" }
      guard let next = Folder(part, in: place) else { return "lies in '\(part)', which is no folder" }
      place = next
    }
    guard let status = place.status(of: name) else { return errno == ENOENT ? nil : SystemError.text() }
    if status.st_mode & S_IFMT == S_IFLNK { return "is a symbolic link" }
    if status.st_mode & S_IFMT != S_IFREG { return "is no regular file" }
    if let doubt = Ownership.doubt(status) { return doubt }
    if !replacesTracked, GitIndex.tracks(parts, in: folder) { return "is there already, and in git" }
    return nil
  }
}
