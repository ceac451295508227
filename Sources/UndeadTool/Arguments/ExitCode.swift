/// The end of a command with a status.
struct ExitCode: Error {
  let rawValue: Int32

  init(_ status: Int32) { rawValue = status }
}
