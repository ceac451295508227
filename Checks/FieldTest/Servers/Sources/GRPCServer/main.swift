import GRPCCore
import GRPCInProcessTransport

/// A visitor calls each kind of method, and gives some of its calls up.
func visit(_ client: GRPCClient<InProcessTransport.Client>, _ number: Int) async throws {
  let (serializer, deserializer) = (BytesSerializer(), BytesDeserializer())
  let message = Array(repeating: UInt8(truncatingIfNeeded: number), count: 40)
  let one = try await client.unary(
    request: ClientRequest(message: message), descriptor: Echo.get, serializer: serializer, deserializer: deserializer,
    options: .defaults
  ) { try $0.message }
  let collected = try await client.clientStreaming(
    request: StreamingClientRequest { for _ in 0..<5 { try await $0.write(message) } }, descriptor: Echo.collect,
    serializer: serializer, deserializer: deserializer, options: .defaults
  ) { try $0.message }
  let expanded = try await client.serverStreaming(
    request: ClientRequest(message: message), descriptor: Echo.expand, serializer: serializer,
    deserializer: deserializer,
    options: .defaults
  ) { try await $0.messages.reduce(0) { $0 + $1.count } }
  let updated = try await client.bidirectionalStreaming(
    request: StreamingClientRequest { for _ in 0..<5 { try await $0.write(message) } }, descriptor: Echo.update,
    serializer: serializer, deserializer: deserializer, options: .defaults
  ) { try await $0.messages.reduce(0) { $0 + $1.count } }
  precondition(one.count == 40 && collected.count == 200 && expanded == 40 && updated == 200)
  var options = CallOptions.defaults
  options.timeout = .microseconds(500)
  _ = try? await client.unary(
    request: ClientRequest(message: message), descriptor: Echo.get, serializer: serializer, deserializer: deserializer,
    options: options
  ) { try $0.message }
}

let transport = InProcessTransport()
try await withGRPCServer(transport: transport.server, services: [Echo()]) { _ in
  try await withGRPCClient(transport: transport.client) { client in
    try await withThrowingTaskGroup(of: Void.self) { group in
      for visitor in 0..<8 {
        group.addTask {
          while true { try await visit(client, visitor) }
        }
      }
      try await group.waitForAll()
    }
  }
}
