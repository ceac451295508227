#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import Glibc
import Synchronization
import Undead

extension UndeadDebugService {
  /// Listens on a UNIX domain socket: `curl --unix-socket PATH http://localhost/debug/pprof/heap`.
  ///
  /// Only this user and root are answered. A socket that a dead process left is replaced; anything else at the path is
  /// left alone, and is an error.
  ///
  /// - Parameters:
  ///   - path: of the socket; `{PID}` in it stands for the number of the process.
  ///   - configuration: of the service that answers.
  /// - Returns: the server, which runs until ``SocketServer/stop()``; it need not be kept.
  @discardableResult
  public static func start(
    socket path: String, configuration: Configuration = Configuration()
  ) throws(UndeadServiceError) -> SocketServer {
    let server = try SocketServer(path: path, service: UndeadDebugService(configuration: configuration))
    server.start()
    return server
  }

  /// Starts the server if `UNDEAD_SERVICE_SOCKET` names a socket; else does nothing.
  ///
  /// - Throws: ``UndeadServiceError`` if there can be no socket at that path.
  @discardableResult
  public static func startIfConfigured(
    _ configuration: Configuration = Configuration()
  ) throws(UndeadServiceError) -> SocketServer? {
    guard let path = getenv("UNDEAD_SERVICE_SOCKET").map({ String(cString: $0) }), !path.isEmpty else { return nil }
    return try start(socket: path, configuration: configuration)
  }
}

extension UndeadDebugService {
  /// A server on a UNIX domain socket; ``UndeadDebugService/start(socket:configuration:)`` makes one.
  public final class SocketServer: Sendable {
    /// Where the socket is.
    public let path: String
    private let service: UndeadDebugService
    private let socket: ListeningSocket
    private let limits: SocketLimits
    /// Places for connections: more wait in the queue of the socket.
    private let places: DispatchSemaphore

    init(path: String, service: UndeadDebugService, limits: SocketLimits = SocketLimits()) throws(UndeadServiceError) {
      self.path = path.split(separator: "{PID}", omittingEmptySubsequences: false).joined(separator: "\(getpid())")
      self.service = service
      self.limits = limits
      socket = try ListeningSocket(path: self.path)
      places = DispatchSemaphore(value: limits.connections)
    }

    func start() {
      OwnThread.start { self.accept() }
    }

    /// Takes the socket away; requests under way are answered.
    public func stop() {
      socket.close()
    }

    private func accept() {
      while let connection = socket.accept() {
        places.wait()
        OwnThread.start { [service, limits, places] in
          SocketConnection(connection, service, limits).serve()
          places.signal()
        }
      }
    }
  }
}

/// What a client may use up.
struct SocketLimits: Sendable {
  var connections = 16
  /// For the head of a request, in all.
  var readMilliseconds = 10_000
  /// For each piece of an answer.
  var writeMilliseconds = 30_000
}
#endif
