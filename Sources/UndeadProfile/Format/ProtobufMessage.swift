/// What is written as a message of Protocol Buffers: its fields in the order of their numbers.
protocol ProtobufMessage {
  func write(to writer: inout ProtobufWriter)
}

extension ProtobufMessage {
  /// The encoded message; the same bytes for the same values.
  var serialized: [UInt8] {
    var writer = ProtobufWriter()
    write(to: &writer)
    return writer.bytes
  }
}
