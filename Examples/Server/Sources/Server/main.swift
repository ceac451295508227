import Foundation
import Hummingbird

struct Shop {
  let store = SessionStore()

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.get("/") { _, _ in "a shop\n" }
    router.get("/visit/:name") { _, context in try await visit(context.parameters.require("name")) }
    router.get("/basket/:session") { _, context in try await basket(context.parameters.require("session")) }
    router.get("/browse/:name") { _, context in try browse(context.parameters.require("name")) }
    router.get("/subscribe/:name") { _, context in try subscribe(context.parameters.require("name")) }
    router.get("/haunt") { _, _ in haunt() }
    return router
  }

  /// Every visit opens a session, also that of somebody who was here before.
  private func visit(_ visitor: String) async -> String {
    let basket = (1...3).map { Item(article: "article \($0) of \(visitor)", thumbnail: Data(count: 256)) }
    let key = await store.open(Session(visitor: visitor, basket: basket))
    return key.uuidString + "\n"
  }

  private func basket(_ key: String) async throws -> String {
    guard let key = UUID(uuidString: key), let session = await store.find(key) else {
      throw HTTPError(.notFound)
    }
    return session.basket.map { $0.article + "\n" }.joined()
  }

  /// What a shop does most of the time: nothing of it is kept.
  private func browse(_ visitor: String) throws -> String {
    let page = Page(visitor: visitor, articles: (1...10).map { Page.Article(name: "article \($0)", price: $0 * 100) })
    return String(decoding: try JSONEncoder().encode(page), as: UTF8.self) + "\n"
  }

  /// A leak: the subscription holds the closure that holds the subscription.
  private func subscribe(_ visitor: String) -> String {
    let subscription = Subscription(visitor: visitor)
    subscription.onArrival = { subscription.deliver() }
    return "subscribed\n"
  }

  /// A message to an object that has died. Only to be asked for under `undead run --zombies`.
  private func haunt() -> String {
    let ghost = Unmanaged.passRetained(Subscription(visitor: "nobody"))
    ghost.release()
    return ghost.takeUnretainedValue().greet()
  }
}

let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
// Who watches the server wants to know which process it is.
if CommandLine.arguments.count > 2 {
  try "\(ProcessInfo.processInfo.processIdentifier)".write(
    toFile: CommandLine.arguments[2], atomically: true, encoding: .utf8)
}
let application = Application(
  router: Shop().router(), configuration: .init(address: .hostname("127.0.0.1", port: port)))
try await application.runService()
