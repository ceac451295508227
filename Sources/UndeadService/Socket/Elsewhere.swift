#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
extension UndeadDebugService {
  /// Listens on a UNIX domain socket, on Linux.
  ///
  /// - Throws: ``UndeadServiceError``: nothing is recorded on this platform, so nothing could be answered.
  @discardableResult
  public static func start(
    socket path: String, configuration: Configuration = Configuration()
  ) throws(UndeadServiceError) -> SocketServer {
    throw .unsupported
  }

  /// Starts the server if `UNDEAD_SERVICE_SOCKET` names a socket, on Linux; does nothing on this platform.
  @discardableResult
  public static func startIfConfigured(
    _ configuration: Configuration = Configuration()
  ) throws(UndeadServiceError) -> SocketServer? {
    nil
  }
}

extension UndeadDebugService {
  /// A server on a UNIX domain socket; there is none on this platform.
  public final class SocketServer: Sendable {
    /// Where the socket is.
    public let path: String

    private init(path: String) {
      self.path = path
    }

    /// Takes the socket away.
    public func stop() {}
  }
}
#endif
