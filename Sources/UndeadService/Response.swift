import UndeadSystem

extension UndeadDebugService {
  /// What a server answers; `HEAD` has the same head and an empty body.
  public struct Response: Sendable {
    /// Status of HTTP: 200, 404, 503.
    public var status: Int
    public var contentType: String
    /// Further lines of the header, without `Content-Type` and `Content-Length`.
    public var headers: [Header]
    public var body: Body
    /// Length of the body; of an answer to `HEAD`, that of the body of a `GET`, if it is known without the work.
    public var contentLength: Int?

    package init(_ status: Int = 200, contentType: String, headers: [Header] = [], body: Body) {
      self.status = status
      self.contentType = contentType
      self.headers = headers + Self.precautions.map { Header(name: $0.0, value: $0.1) }
      self.headers.append(
        Header(
          name: "Content-Security-Policy",
          value: contentType.hasPrefix("text/html") ? Self.policyOfPages : Self.policy))
      self.body = body
      contentLength = body.count
    }

    /// Headers for browsers: keep nothing, guess nothing, show it in no frame, and name it to no other site.
    private static let precautions = [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
      ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
      ("Cross-Origin-Opener-Policy", "same-origin"),
    ]
    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    /// Both this and the policy in the page itself hold, which allows scripts with its number only.
    private static let policyOfPages = policy + "; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

    /// A text as an answer, for what a server says itself.
    public init(
      _ status: Int = 200, text: String, contentType: String = "text/plain; charset=utf-8", headers: [Header] = []
    ) {
      self.init(status, contentType: contentType, headers: headers, body: Body(Array(text.utf8)))
    }

    /// The value of a header, whatever the case of letters in its name.
    public func header(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  /// The bytes of an answer, in pieces of at most 64 KB; can be read once.
  public struct Body: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = any Error

    fileprivate enum Source: Sendable {
      case bytes([UInt8])
      case file(OpenFile)
    }

    fileprivate let source: Source
    /// All bytes.
    public let count: Int

    package init(_ bytes: [UInt8]) {
      source = .bytes(bytes)
      count = bytes.count
    }

    init(_ file: OpenFile) {
      source = .file(file)
      count = file.count
    }

    /// Takes the pieces one after another, on whatever thread asks.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// All bytes at once, for tests and for small answers.
    public func bytes() async throws -> [UInt8] {
      var all: [UInt8] = []
      for try await piece in self { all += piece }
      return all
    }

    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let source: Source
      private var position = 0

      fileprivate init(source: Source) { self.source = source }

      /// - Throws: `CancellationError` if the task was cancelled; what went wrong with reading the file.
      public mutating func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        return try nextNow()
      }

      /// The next piece, for a server that waits in threads of its own.
      mutating func nextNow() throws -> [UInt8]? {
        let piece: [UInt8]
        switch source {
        case .bytes(let bytes): piece = Array(bytes.dropFirst(position).prefix(Body.pieceSize))
        case .file(let file): piece = try file.read(at: position, atMost: Body.pieceSize)
        }
        position += piece.count
        return piece.isEmpty ? nil : piece
      }
    }

    private static let pieceSize = 1 << 16
  }

  /// A file that has no name any more: it goes when the last answer that needs it does.
  final class OpenFile: Sendable {
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      private let descriptor: Int32
      let count: Int

      /// Opens a file and takes its name away.
      init(takingNameOf path: String) throws(UndeadServiceError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw UndeadServiceError("cannot open '\(path)': \(SystemError.text())") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
          close(descriptor)
          throw UndeadServiceError("cannot read '\(path)': \(SystemError.text())")
        }
        count = Int(status.st_size)
        unlink(path)
      }

      deinit { close(descriptor) }

      func read(at position: Int, atMost limit: Int) throws(UndeadServiceError) -> [UInt8] {
        var problem: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: limit) { buffer, used in
          used = 0
          repeat {
            used = pread(descriptor, buffer.baseAddress, limit, off_t(position))
          } while used < 0 && errno == EINTR
          if used < 0 { (problem, used) = (errno, 0) }
        }
        guard problem == 0 else { throw UndeadServiceError("cannot read the answer: \(SystemError.text(problem))") }
        guard !piece.isEmpty || position >= count else {
          throw UndeadServiceError("the file of the answer was cut off")
        }
        return piece
      }
    #else
      let count = 0

      init(takingNameOf path: String) throws(UndeadServiceError) { throw .unsupported }

      func read(at position: Int, atMost limit: Int) throws(UndeadServiceError) -> [UInt8] { throw .unsupported }
    #endif
  }
}
