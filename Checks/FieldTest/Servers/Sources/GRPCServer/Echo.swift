import GRPCCore

struct BytesSerializer: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
}

struct BytesDeserializer: MessageDeserializer {
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}

/// Calls of each shape, without generated code.
struct Echo: RegistrableRPCService {
  static let service = ServiceDescriptor(package: "echo", service: "Echo")
  static func method(_ name: String) -> MethodDescriptor {
    MethodDescriptor(fullyQualifiedService: service.fullyQualifiedService, method: name)
  }
  static let get = method("Get")
  static let collect = method("Collect")
  static let expand = method("Expand")
  static let update = method("Update")

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    let (serializer, deserializer) = (BytesSerializer(), BytesDeserializer())
    router.registerHandler(forMethod: Self.get, deserializer: deserializer, serializer: serializer) { stream, _ in
      let request = try await ServerRequest(stream: stream)
      try await Task.sleep(for: .milliseconds(1))
      return StreamingServerResponse(single: ServerResponse(message: request.message, metadata: request.metadata))
    }
    router.registerHandler(forMethod: Self.collect, deserializer: deserializer, serializer: serializer) { stream, _ in
      let collected = try await stream.messages.reduce(into: []) { $0.append(contentsOf: $1) }
      return StreamingServerResponse(single: ServerResponse(message: collected, metadata: stream.metadata))
    }
    router.registerHandler(forMethod: Self.expand, deserializer: deserializer, serializer: serializer) { stream, _ in
      let request = try await ServerRequest(stream: stream)
      return StreamingServerResponse(metadata: request.metadata) { writer in
        for byte in request.message { try await writer.write([byte]) }
        return [:]
      }
    }
    router.registerHandler(forMethod: Self.update, deserializer: deserializer, serializer: serializer) { stream, _ in
      StreamingServerResponse(metadata: stream.metadata) { writer in
        for try await message in stream.messages { try await writer.write(message) }
        return [:]
      }
    }
  }
}
