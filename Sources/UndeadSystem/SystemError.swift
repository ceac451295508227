/// What the system says of an error number.
package enum SystemError {
  package static func text(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
}
