import UndeadSystem

/// Files that the user names to be read as a whole.
enum InputFile {
  /// - Parameter what: the file, as words of an error.
  static func content(_ path: String, as what: String) throws(ToolError) -> [UInt8] {
    if let content = WholeFile.read(named: path) { return content }
    throw .misuse("cannot read \(what): \(reason(errno))")
  }

  private static func reason(_ code: Int32) -> String {
    code == EINVAL ? "it is no regular file; copy it into one" : SystemError.text(code)
  }
}
