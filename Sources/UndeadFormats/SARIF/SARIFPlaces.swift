import UndeadReport
import UndeadSystem

/// Places of a report as a SARIF log writes them: files below the root of the repository relative to it, names of types,
/// fields and functions in a table of the run.
package struct SARIFPlaces {
  /// What relative URIs are relative to.
  static let root = "SRCROOT"

  private let options: ReportTextOptions
  /// The table of the run.
  package private(set) var logicalLocations: [SARIF.LogicalLocation] = []
  private var positions: [String: Int] = [:]

  /// - Parameter options: `directory` is the root of the repository.
  package init(_ options: ReportTextOptions) {
    self.options = options
  }

  /// The bases of relative URIs; nil if there is no root.
  package var bases: [String: SARIF.ArtifactLocation]? {
    guard options.directory.hasPrefix("/") else { return nil }
    let directory = options.directory.hasSuffix("/") ? options.directory : options.directory + "/"
    return [Self.root: SARIF.ArtifactLocation(uri: "file://" + Self.escaped(directory))]
  }

  // MARK: Files

  package func file(_ file: String, line: Int?) -> SARIF.PhysicalLocation {
    let path = StackText.shortened(file, options)
    // Not every file name of a compiler is absolute: prefixes can be mapped to nothing.
    let isAbsolute = path.hasPrefix("/")
    return SARIF.PhysicalLocation(
      artifactLocation: SARIF.ArtifactLocation(
        uri: (isAbsolute ? "file://" : "") + Self.escaped(path), uriBaseId: isAbsolute ? nil : Self.root),
      region: line.flatMap { $0 > 0 ? SARIF.Region(startLine: $0) : nil })
  }

  package func file(of frame: Frame) -> SARIF.PhysicalLocation? {
    frame.file.flatMap { $0.isEmpty ? nil : file($0, line: frame.line) }
  }

  /// A path as a part of a URI: a colon, too, would be taken for the end of a scheme.
  private static func escaped(_ path: String) -> String {
    var result = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"),
        UInt8(ascii: "+"), UInt8(ascii: "@"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }

  // MARK: Names

  package mutating func type(_ name: String) -> SARIF.LogicalLocation {
    logical(name, SymbolText.lastComponent(ofType: name), "type", parent: nil)
  }

  package mutating func field(_ field: String, of type: String) -> SARIF.LogicalLocation {
    let parent = self.type(type).index
    return logical("\(type).\(field)", field, "member", parent: parent)
  }

  package mutating func function(_ name: String) -> SARIF.LogicalLocation {
    logical(name, name, "function", parent: nil)
  }

  package mutating func variable(_ name: String) -> SARIF.LogicalLocation {
    logical(name, name, "variable", parent: nil)
  }

  private mutating func logical(
    _ qualified: String, _ name: String, _ kind: String, parent: Int?
  ) -> SARIF.LogicalLocation {
    let (qualified, name) = (VisibleText.line(qualified), VisibleText.line(name))
    let key = "\(kind) \(qualified)"
    let index = positions[key] ?? logicalLocations.count
    if positions[key] == nil {
      positions[key] = index
      logicalLocations.append(
        SARIF.LogicalLocation(name: name, fullyQualifiedName: qualified, kind: kind, parentIndex: parent))
    }
    return SARIF.LogicalLocation(name: name, fullyQualifiedName: qualified, kind: kind, index: index)
  }
}

extension SymbolText {
  /// "Demo.Box<Swift.Int>.Node" -> "Node".
  static func lastComponent(ofType name: String) -> String {
    let bare = TypeName.unspecialized(name)
    return bare.lastIndex(of: ".").map { String(bare[bare.index(after: $0)...]) } ?? bare
  }
}
