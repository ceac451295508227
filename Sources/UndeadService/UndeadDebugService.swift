import Undead
import UndeadReport
import UndeadSystem

/// Answers requests for profiles, leaks and growth of the process that it runs in, for whatever server the owner has.
///
/// It listens nowhere by itself: hand it requests from a route of your server, behind your authentication, or start the
/// socket server with ``start(socket:configuration:)``. What it shows are names of types, functions and files, never
/// contents of objects.
///
/// ```swift
/// let service = UndeadDebugService()
/// let response = await service.respond(to: .init(target: "/debug/pprof/heap")!)
/// ```
public final class UndeadDebugService: Sendable {
  /// How the service behaves.
  public struct Configuration: Sendable {
    /// Labels of all samples of profiles: what distinguishes this service, host and version from others.
    public var labels: [String: String]
    /// From the end of one look at the process to the start of the next one, at least.
    public var pause: Duration = .seconds(1)
    /// How long a request waits while another one looks, before it is refused.
    public var patience: Duration = .seconds(10)
    /// Requests under way at once, those that wait for time to pass among them.
    public var mostRequests = 8
    /// The longest time that `?seconds=` may ask for.
    public var longestWait: Duration = .seconds(600)
    /// Larger heaps are not analysed in the process itself; profiles and `?file=1` have no such limit.
    public var mostBlocks = 5_000_000
    /// False: names of functions by symbol tables alone, without `llvm-symbolizer`, and so without files and lines.
    public var usesDebugInformation = true
    /// Where files are for the time of a request; nil for `TMPDIR`, else `/tmp`.
    public var temporaryDirectory: String?
    /// What analyses the heap in the process itself; nil for none: the heap file is analysed elsewhere.
    public var analyses: Analyses?

    /// Makes a configuration with labels from the environment; see ``Labels/fromEnvironment()``.
    public init(labels: [String: String] = Labels.fromEnvironment(), analyses: Analyses? = nil) {
      self.labels = labels
      self.analyses = analyses
    }
  }

  package let configuration: Configuration
  let gate: Gate
  package let names: CodeNames
  private let underWay = Mutex(0)

  /// Makes a service; nothing is recorded or looked at until there is a request.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    gate = Gate(
      pause: configuration.pause, patience: configuration.patience, mostWaiting: configuration.mostRequests)
    names = CodeNames(usesDebugInformation: configuration.usesDebugInformation)
  }

  var requestsUnderWay: Int { underWay.withLock { $0 } }

  /// Answers a request; never throws, whatever is asked for.
  ///
  /// A request that waits, for its turn or for time to pass, ends when its task is cancelled.
  ///
  /// - Parameters:
  ///   - request: what is asked for.
  ///   - hosts: the names under which the server is asked. If nothing in front of the service
  ///     checks who asks, give ``Hosts/loopback(port:others:)`` or ``Hosts/named(_:)``.
  public func respond(to request: Request, hosts: Hosts = .any) async -> Response {
    if let refusal = refusal(of: request, hosts: hosts) { return refusal }
    guard let answer = route(request.path) else {
      return .problem(404, "there is nothing at '\(request.path.prefix(200))'; see /debug/pprof/ and /debug/undead/")
    }
    guard answer.methods.contains(request.method) else {
      let allowed = answer.methods.joined(separator: ", ")
      return .problem(
        405, "\(request.method.prefix(32)) is not possible here; use \(answer.methods.joined(separator: " or "))",
        headers: [.init(name: "Allow", value: allowed)])
    }
    if request.method == "HEAD" { return head(of: answer) }
    let count = underWay.withLock { count in
      count += 1
      return count
    }
    defer { underWay.withLock { $0 -= 1 } }
    guard count <= configuration.mostRequests else {
      return .problem(
        503, "\(configuration.mostRequests) requests are under way already; try again later", retryAfter: 5)
    }
    do {
      return try await answer.make(request)
    } catch {
      return .problem(error)
    }
  }

  /// What is wrong with who asks, by what a browser says of it: another site's name in `Host`, a page of another site.
  ///
  /// For a server that asks for a password: a request that is refused here is not to be asked for one.
  ///
  /// - Returns: the answer; nil if ``respond(to:hosts:)`` has one.
  public func refusal(of request: Request, hosts: Hosts) -> Response? {
    if let problem = hosts.problem(with: request) { return problem }
    return request.isOfAnotherSite ? .problem(403, "pages of other sites are not answered") : nil
  }

  /// What a path is answered by.
  private struct Answer {
    var contentType: String
    /// What changes something is asked for by `POST` only: a link, an image and a crawler get.
    var methods = ["GET", "HEAD"]
    var make: (Request) async throws -> Response
  }

  private func route(_ path: String) -> Answer? {
    let text = "text/plain; charset=utf-8"
    switch path {
    case "/debug/pprof": return Answer(contentType: text) { _ in .moved(to: "/debug/pprof/") }
    case "/debug/undead": return Answer(contentType: text) { _ in .moved(to: "/debug/undead/") }
    case "/debug/pprof/", "/debug/undead/":
      return Answer(contentType: Index.contentType) { _ in Index.response(pprof: path == "/debug/pprof/") }
    case "/debug/pprof/heap": return Answer(contentType: Profiles.contentType, make: profileOfHeap)
    case "/debug/pprof/allocs": return Answer(contentType: Profiles.contentType, make: profileOfAllocations)
    case "/debug/undead/report": return Answer(contentType: text, make: report)
    case "/debug/undead/heap": return Answer(contentType: text, make: heap)
    case "/debug/undead/tasks": return Answer(contentType: text, make: tasks)
    case "/debug/undead/growth": return Answer(contentType: text, make: growth)
    case "/debug/undead/zombies": return Answer(contentType: text, make: zombies)
    case "/debug/undead/mark": return Answer(contentType: text, methods: ["POST"], make: mark)
    default: return nil
    }
  }

  /// The work is not done for it, so the length is not known.
  private func head(of answer: Answer) -> Response {
    var response = Response(contentType: answer.contentType, body: Body([]))
    response.contentLength = nil
    return response
  }

  // MARK: What answers share

  /// Says why nothing can be answered, and how to change that.
  func requireRecording() throws {
    if let reason = LeakDetector.inactiveReason { throw NotRecording(reason: reason) }
  }

  /// Writes the heap of this process to a file that has no name any more when the work begins to read it.
  func lookAtHeap<Value: Sendable>(
    _ work: @escaping @Sendable (_ path: String, _ directory: PrivateDirectory) throws -> Value
  ) async throws -> Value {
    try requireRecording()
    let parent = configuration.temporaryDirectory
    return try await gate.look {
      let directory = try PrivateDirectory(in: parent)
      let path = directory.file("heap.undead")
      try LeakDetector.writeHeap(to: path)
      return try work(path, directory)
    }
  }

  /// A number of seconds in the query; nil if there is none.
  package func seconds(_ request: Request) throws -> Duration? {
    guard let text = request.value("seconds") else { return nil }
    let most = configuration.longestWait.components.seconds
    guard let seconds = Int64(text), seconds >= 1, seconds <= most else {
      throw BadQuery("seconds=\(text.prefix(32)): give a whole number from 1 to \(most)")
    }
    return .seconds(seconds)
  }
}

/// The query asks for what does not exist.
package struct BadQuery: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// Nothing is recorded, so nothing can be answered.
struct NotRecording: Error {
  var reason: String
}

extension UndeadDebugService.Request {
  /// The value of an enumeration in the query.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ standard: Choice
  ) throws -> Choice where Choice.RawValue == String {
    guard let text = value(name) else { return standard }
    guard let choice = Choice(rawValue: text) else {
      let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw BadQuery("\(name)=\(text.prefix(32)): give one of \(all)")
    }
    return choice
  }

  /// A number in the query, 1 or more.
  package func number(_ name: String) throws -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), number >= 1 else {
      throw BadQuery("\(name)=\(text.prefix(32)): give a number, 1 or more")
    }
    return number
  }

  func flag(_ name: String) -> Bool {
    guard let text = value(name) else { return false }
    return text != "0" && text != "false"
  }
}
