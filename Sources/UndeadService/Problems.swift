import Undead
import UndeadReport
import UndeadSystem

extension UndeadDebugService.Response {
  /// An answer that says what is wrong, as text with a newline.
  static func problem(
    _ status: Int, _ text: String, headers: [UndeadDebugService.Header] = [], retryAfter: Int? = nil
  ) -> Self {
    var headers = headers
    if let retryAfter { headers.append(.init(name: "Retry-After", value: "\(retryAfter)")) }
    return Self(status, text: "\(VisibleText.lines(text))\n", headers: headers)
  }

  static func moved(to path: String) -> Self {
    Self(301, text: "see \(path)\n", headers: [.init(name: "Location", value: path)])
  }

  static func problem(_ error: any Error) -> Self {
    switch error {
    case let refusal as Gate.Refusal:
      switch refusal {
      case .busy(let seconds):
        problem(503, "another request looks at the process; try again later", retryAfter: seconds)
      case .tooOften(let seconds):
        problem(429, "the process was looked at a moment ago; try again later", retryAfter: seconds)
      }
    case let error as NotRecording: problem(503, notRecording(error.reason))
    case let error as BadQuery: problem(400, error.description)
    case is CancellationError: problem(503, "the request was cancelled")
    case let error as Missing: problem(error.status, error.description)
    case let error as UndeadError: problem(503, "the check could not be made: \(error)", retryAfter: 5)
    default: problem(500, "\(error)")
    }
  }

  private static func notRecording(_ reason: String) -> String {
    """
    nothing is recorded in this process: \(reason)
    Start it with UNDEAD=1 in its environment, or under 'undead run'; or call LeakDetector.start() early in the program, after \
    which only what is allocated from then on is known.
    """
  }
}
