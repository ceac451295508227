import UndeadReport

/// A line of the repository itself that a finding is shown at by CI systems.
struct RepositoryPlace: Equatable {
  /// Relative to the root of the repository.
  var file: String
  var line: Int?

  /// The innermost line of the repository that took part in a finding, else that of its test; nil if there is none: no
  /// other files can be shown.
  init?(_ finding: Finding, _ options: ReportTextOptions) {
    let frames = finding.placeSites.flatMap(\.backtrace.frames)
    if let place = Self.first(frames, options) {
      self = place
    } else if let file = finding.test?.file, let path = Self.path(file, options) {
      self.init(file: path, line: finding.test?.line)
    } else {
      return nil
    }
  }

  private init(file: String, line: Int?) {
    self.file = file
    self.line = line
  }

  /// The innermost of some frames that is in the repository.
  static func first(_ frames: [Frame], _ options: ReportTextOptions) -> RepositoryPlace? {
    for frame in frames where !frame.system && frame.line != nil {
      guard let file = frame.file, let path = path(file, options) else { continue }
      return RepositoryPlace(file: path, line: frame.line)
    }
    return nil
  }

  private static func path(_ file: String, _ options: ReportTextOptions) -> String? {
    let path = StackText.shortened(file, options)
    // What SwiftPM fetched or made is not in the repository.
    return path.hasPrefix("/") || path.split(separator: "/").contains(".build") ? nil : path
  }
}

extension Finding {
  /// The places of it that count, the one that shows most first.
  fileprivate var placeSites: [Site] {
    let roles: [Site.Role] = kind == .zombie ? [.used, .allocated] : [.allocated, .suspended]
    return roles.compactMap(site)
  }
}
