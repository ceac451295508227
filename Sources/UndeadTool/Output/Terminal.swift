import Glibc

/// What the terminal that a report is written to can do.
struct Terminal {
  /// Columns; nil if they are not known.
  let width: Int?
  /// How addresses of files are written; nil where links are not known to work.
  private let form: Form?
  private let host: String

  /// What a terminal makes of the address of a file.
  enum Form: Equatable {
    case file, fileWithFragment, visualStudioCode
  }

  /// - Parameter descriptor: open on a terminal.
  init(descriptor: Int32, environment: (String) -> String? = System.environment) {
    width = Self.width(descriptor, environment)
    form = Self.form(environment)
    host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
      name.initialize(repeating: 0)
      return gethostname(name.baseAddress!, name.count - 1) == 0 ? String(cString: name.baseAddress!) : ""
    }
  }

  private static func width(_ descriptor: Int32, _ environment: (String) -> String?) -> Int? {
    if let text = environment("COLUMNS"), let columns = Int(text), columns > 0 { return columns }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// What is known of terminals by the variables that they set: there is no way to ask them.
  static func form(_ environment: (String) -> String?) -> Form? {
    if let forced = environment("FORCE_HYPERLINK") { return forced == "0" || forced.isEmpty ? nil : .file }
    let type = environment("TERM") ?? ""
    // A multiplexer shows only what it knows, whatever the terminal around it can do.
    if type == "dumb" || type.hasPrefix("screen") || type.hasPrefix("tmux") { return nil }
    let program = environment("TERM_PROGRAM") ?? ""
    if program == "vscode" { return .visualStudioCode }
    if type == "xterm-kitty" || type == "xterm-ghostty" || program == "WezTerm" { return .fileWithFragment }
    if program == "iTerm.app" || program == "ghostty" || environment("WT_SESSION") != nil { return .file }
    if environment("KONSOLE_VERSION") != nil || environment("DOMTERM") != nil { return .file }
    // VTE draws them from 0.50 on.
    return (environment("VTE_VERSION").flatMap { Int($0) } ?? 0) >= 5000 ? .file : nil
  }

  /// The function that gives the address of a file and line; nil where links are not known to work.
  var link: (@Sendable (String, Int?) -> String?)? {
    guard let form else { return nil }
    let host = host
    return { file, line in Self.address(of: file, line, form, host: host) }
  }

  /// The address of a file; nil for a path that is not complete.
  static func address(of file: String, _ line: Int?, _ form: Form, host: String) -> String? {
    guard file.hasPrefix("/") else { return nil }
    let path = escaped(file)
    return switch form {
    case .file: "file://\(host)\(path)"
    case .fileWithFragment: "file://\(host)\(path)" + (line.map { "#\($0)" } ?? "")
    case .visualStudioCode: "vscode://file\(path)" + (line.map { ":\($0)" } ?? "")
    }
  }

  private static func escaped(_ path: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+".utf8)
    return path.utf8.reduce(into: "") { text, byte in
      if plain.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
  }
}
