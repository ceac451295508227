// source: vapor/vapor 8738371b59e8
// A helper that lies in the storage of the request, a dictionary of Any, referred to the request. The fix makes it weak.
// expect: leak Request via Helper.request

enum VaporAuthHelper: LeakCase {
  final class Helper {
    #if FIXED
      weak var request: Request?
    #else
      let request: Request
    #endif
    init(request: Request) { self.request = request }
  }

  final class Request {
    var headers = ["Authorization": "none"]
    var storage: [String: Any] = [:]

    var auth: Helper {
      if let helper = storage["auth"] as? Helper { return helper }
      let helper = Helper(request: self)
      storage["auth"] = helper
      return helper
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { _ = Request().auth }
  }
}
