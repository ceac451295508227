// source: vapor/vapor 80a02fa84876 (#3056)
// The closure that sets up each accepted channel held the application, which holds the server. The fix captures it weakly.
// expect: leak Application via Bootstrap.childInitializer

enum VaporChildInitializer: LeakCase {
  final class Channel {
    var name = ""
  }

  final class Bootstrap {
    var childInitializer: ((Channel) -> Void)?
    func serverChannelInitializer(_ body: (Channel) -> Void) -> Self { self }
    func childChannelInitializer(_ body: @escaping (Channel) -> Void) -> Self {
      childInitializer = body
      return self
    }
  }

  final class Server {
    var bootstrap: Bootstrap?

    func start(_ application: Application) {
      #if FIXED
        bootstrap = Bootstrap().childChannelInitializer { [weak application] in $0.name = application?.name ?? "" }
      #else
        bootstrap = Bootstrap().childChannelInitializer { $0.name = application.name }
      #endif
    }
  }

  final class Application {
    let name = "app"
    let server = Server()
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let application = Application()
      application.server.start(application)
      application.server.bootstrap?.childInitializer?(Channel())
    }
  }
}
