import Glibc

/// Where the files are that a program had mapped.
package struct BinarySearch: Sendable {
  /// The root directory of a file system with the program's files, such as that of a container image.
  package var root: String?
  /// Directories with files that lie elsewhere; they are found by their names.
  package var directories: [String]
  /// The instrument, which may have been put into the program from memory.
  var library: String?

  package init(root: String? = nil, directories: [String] = []) {
    self.root = root
    self.directories = directories
  }

  /// The places where a file may be, the best first.
  func places(of path: String) -> [String] {
    let suffix = " (deleted)"
    let path = path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
    if let library, path.hasPrefix("/memfd:\(LiveCall.fileName)") { return [library] }
    guard let name = path.split(separator: "/").last else { return [] }
    var places = directories.map { "\($0)/\(name)" }
    if let root { places.append(root + path) }
    return places + [path]
  }
}
