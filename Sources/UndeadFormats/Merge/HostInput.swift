import UndeadReport

/// Something of a host that is to be merged.
package struct HostInput<Value: Sendable>: Sendable {
  /// Inputs of one name are of one host.
  package var host: String
  /// What messages call it.
  package var file: String
  package var value: Value

  package init(host: String, file: String, value: Value) {
    self.host = host
    self.file = file
    self.value = value
  }
}
