// source: vapor/vapor 074036e1a (#1878)
// A service that its container caches referred to the container. The fix makes the reference weak.
// expect: leak Worker via FoundationClient.container

protocol VaporContainer: AnyObject {
  var cache: [String: any VaporService] { get set }
}
protocol VaporService {}

enum VaporClientContainer: LeakCase {
  final class FoundationClient: VaporService {
    #if FIXED
      weak var container: (any VaporContainer)?
    #else
      var container: any VaporContainer
    #endif
    init(on container: any VaporContainer) { self.container = container }
  }

  final class Worker: VaporContainer {
    var cache: [String: any VaporService] = [:]
    func make() { cache["client"] = FoundationClient(on: self) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Worker().make() }
  }
}
