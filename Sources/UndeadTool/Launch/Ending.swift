/// How a program ended.
enum Ending: Equatable {
  case exited(Int32)
  case signalled(Int32)

  /// The status that a shell would show.
  var status: Int32 {
    switch self {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    }
  }
}
