// A deinit may use everything of `self`, send messages, make weak references and pass `self` on.
// EXPECT silent
protocol Listener: AnyObject {
  func ended(_ sender: Resource)
}

class Resource {
  var name = "resource"
  var children: [Resource] = []
  weak var listener: (any Listener)?
  func describe() -> String { name + " \(children.count)" }
  deinit {
    _ = describe()
    listener?.ended(self)
    Registry.count += describe().count
    children.removeAll()
  }
}

class Special: Resource {
  lazy var extra = [1, 2, 3]
  override func describe() -> String { "special " + super.describe() }
  deinit { Registry.count += extra.count }
}

enum Registry {
  nonisolated(unsafe) static var count = 0
}

final class Log: Listener {
  var names: [String] = []
  func ended(_ sender: Resource) { names.append(sender.describe()) }
}

@inline(never) @_optimize(none) func work(_ log: Log) {
  let parent = Special()
  parent.listener = log
  for _ in 0..<10 {
    let child = Resource()
    child.listener = log
    parent.children.append(child)
  }
}

let log = Log()
for _ in 0..<300 { work(log) }
print(log.names.count, Registry.count)
