import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import UndeadService

/// A small HTTP server for Undead alone, on a port of its own, apart from the one that the world sees.
///
/// ```swift
/// let server = UndeadHTTPServer(port: 6060)
/// try await server.run()
/// ```
public struct UndeadHTTPServer: Sendable {
  /// Why the server cannot be.
  public struct Refusal: Error, CustomStringConvertible {
    public let description: String
  }

  private let service: UndeadDebugService
  private let host: String
  private let port: Int
  private let hosts: [String]
  private let isAllowed: UndeadHTTPHandler.Authorization?
  private let whenBound: @Sendable (SocketAddress) -> Void

  /// - Parameters:
  ///   - host: an address of this machine. Others than those of loopback need `isAllowed`.
  ///   - port: 0 for any that is free.
  ///   - hosts: further names under which it is asked, as they stand in `Host`: `undead.internal:6060`. On loopback these and
  ///     `localhost` with the port are answered, others refused; on another address, without any, all are answered.
  ///   - isAllowed: says who may ask; nil for everybody on this machine.
  ///   - whenBound: gets the address when the server listens.
  public init(
    _ service: UndeadDebugService = UndeadDebugService(), host: String = "127.0.0.1", port: Int,
    hosts: [String] = [], isAllowed: UndeadHTTPHandler.Authorization? = nil,
    whenBound: @escaping @Sendable (SocketAddress) -> Void = { _ in }
  ) {
    self.service = service
    self.host = host
    self.port = port
    self.hosts = hosts
    self.isAllowed = isAllowed
    self.whenBound = whenBound
  }

  /// Serves until the task is cancelled.
  ///
  /// - Throws: ``Refusal`` if others than this machine could ask and nothing says who may; what goes wrong with the port.
  public func run() async throws {
    let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
    guard isAllowed != nil || Self.isLoopback(address) else {
      throw Refusal(
        description:
          "'\(host)' can be reached from other machines: give 'isAllowed', which says who may ask, or bind to "
          + "127.0.0.1")
    }
    let (service, isAllowed, hosts, isLoopback) = (service, isAllowed, hosts, Self.isLoopback(address))
    let connections = ConnectionCount()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        guard connections.enter() else { return channel.close() }
        channel.closeFuture.whenComplete { _ in connections.leave() }
        let port = channel.localAddress?.port ?? 0
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(
            UndeadHTTPHandler(
              service: service,
              hosts: isLoopback ? .loopback(port: port, others: hosts) : hosts.isEmpty ? .any : .named(hosts),
              isAllowed: isAllowed ?? { _ in true }))
        }
      }
      .bind(to: address).get()
    if let bound = channel.localAddress { whenBound(bound) }
    try await withTaskCancellationHandler {
      try await channel.closeFuture.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  static func isLoopback(_ address: SocketAddress) -> Bool {
    switch address {
    case .v4: address.ipAddress?.hasPrefix("127.") ?? false
    case .v6: address.ipAddress == "::1"
    case .unixDomainSocket: true
    }
  }
}

/// How many connections there are: more than a few are not served, and closed at once.
private final class ConnectionCount: Sendable {
  private static let most = 16
  private let count = NIOLockedValueBox(0)

  func enter() -> Bool {
    count.withLockedValue { count in
      guard count < Self.most else { return false }
      count += 1
      return true
    }
  }

  func leave() {
    count.withLockedValue { $0 -= 1 }
  }
}
