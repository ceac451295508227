/// What the system says of an error number.
package enum SystemError {
  /// The system's own words.
  package static func text(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
}
