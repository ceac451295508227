// A collection that holds the object that it belongs to.
// KEPT BY its own collection
// ADVICE `members` holds the very object that it belongs to
// FIX leave it out
final class Group {
  private var members: [Group] = []
  func start() {
    #if FIXED
      members = [Group()]
    #else
      members = [Group(), self]
    #endif
  }
}
@inline(never) func run() { Group().start() }
run()
