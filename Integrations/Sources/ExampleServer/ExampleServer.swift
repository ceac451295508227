import Foundation
import Hummingbird
import UndeadHummingbird
import UndeadService

/// A server that shows its memory to who knows the password, at `/debug/pprof/heap` and `/debug/undead/report`.
///
///     UNDEAD=1 OPS_PASSWORD=secret swift run ExampleServer
///     curl -u ops:secret -o heap.undead 'http://127.0.0.1:8080/debug/undead/heap?file=1' && undead heap heap.undead
///     go tool pprof http://ops:secret@127.0.0.1:8080/debug/pprof/heap
@main
struct ExampleServer {
  static func main() async throws {
    // For who is on this machine: UNDEAD_SERVICE_SOCKET=/run/app/undead.sock
    try UndeadDebugService.startIfConfigured()
    let environment = ProcessInfo.processInfo.environment
    let application = Application(
      router: router(password: environment["OPS_PASSWORD"]),
      configuration: .init(address: .hostname("127.0.0.1", port: environment["PORT"].flatMap(Int.init) ?? 8080)))
    try await application.runService()
  }

  /// - Parameter password: for the routes of Undead; nil: there are none.
  static func router(password: String?) -> Router<BasicRequestContext> {
    let router = Router()
    router.get("/") { _, _ in "hello\n" }
    if let password, !password.isEmpty {
      router.group().add(middleware: BasicAuthentication(user: "ops", password: password)).addUndeadRoutes()
    }
    return router
  }
}
