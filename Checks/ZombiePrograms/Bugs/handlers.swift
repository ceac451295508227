// References that count nothing: handlers, delegates, contexts of C callbacks, observers.
import CParts
import Glibc

// MARK: A handler is removed while one of its reads waits

// BUG nio-handler kind=method|retain|field type=App.HandlerContext
class HandlerContext {
  var reads = 0
  func fireChannelRead(_ byte: UInt8) { reads += Int(byte) }
}
final class LineDecoder {
  unowned(unsafe) var context: HandlerContext
  var waiting: [UInt8] = [1, 2, 3]
  init(_ context: HandlerContext) { self.context = context }
  @inline(never) func flush() {
    for byte in waiting { context.fireChannelRead(byte) }  // used nio-handler
  }
}
final class Pipeline {
  var contexts: [HandlerContext] = []
  @inline(never) func add() -> LineDecoder {
    contexts.append(HandlerContext())  // allocated nio-handler
    return LineDecoder(contexts[contexts.count - 1])
  }
  @inline(never) func remove() {
    contexts.removeLast()  // freed nio-handler
    use(contexts.count)
  }
}
private func nioHandler() {
  let pipeline = Pipeline()
  let decoder = pipeline.add()
  pipeline.remove()
  decoder.flush()
}

// MARK: A session is closed by a reaper while a request uses it

// BUG closed-session kind=field|retain type=App.Session
final class Session {
  let user = 7
  var requests = 1
}
final class Sessions {
  var current: Session?
  @inline(never) func open() { current = Session() }  // allocated closed-session
  @inline(never) func reap() {
    current = nil  // freed closed-session
    use(1)
  }
}
struct Request {
  unowned(unsafe) let session: Session
  @inline(never) func answer() -> Int {
    session.requests + 1  // used closed-session
  }
}
private func closedSession() {
  let sessions = opaque(Sessions())
  sessions.open()
  let request = Request(session: sessions.current!)
  onThread { sessions.reap() }
  use(request.answer())
}

// MARK: The context of a C callback is not retained

// BUG c-timer kind=method|retain|field type=App.Poller
class Poller {
  var ticks = 0
  let list: OpaquePointer
  init(_ list: OpaquePointer) {
    self.list = list
    parts_list_add(list, Unmanaged.passUnretained(self).toOpaque())
  }
  func tick() { ticks += 1 }
}
@inline(never) private func startPolling(_ list: OpaquePointer) -> Poller {
  Poller(list)  // allocated c-timer
}
@inline(never) private func stop(_ poller: inout Poller?) {
  poller = nil  // freed c-timer
  use(1)
}
private func cTimer() {
  let list = parts_list_new()!
  var poller: Poller? = startPolling(list)
  stop(&poller)
  parts_list_end(list) { context in
    let poller = Unmanaged<Poller>.fromOpaque(context!).takeUnretainedValue()  // used c-timer
    poller.tick()
  }
}

// MARK: A delegate outlived

// BUG delegate kind=method|retain|field|cast type=App.Controller
protocol DownloadDelegate: AnyObject { func finished(_ bytes: Int) }
class Controller: DownloadDelegate {
  var total = 0
  func finished(_ bytes: Int) { total += bytes }
}
final class Download {
  unowned(unsafe) var delegate: any DownloadDelegate
  init(_ delegate: any DownloadDelegate) { self.delegate = delegate }
  @inline(never) func end() {
    delegate.finished(100)  // used delegate
  }
}
@inline(never) private func makeController() -> Controller {
  Controller()  // allocated delegate
}
@inline(never) private func show() -> Download {
  let controller = opaque(makeController())
  let download = opaque(Download(controller))
  use(controller.total)
  return download  // freed delegate
}
private func delegate() { show().end() }

// MARK: A list whose elements point back

// BUG previous-node kind=field|retain type=App.Entry
final class Entry {
  let key: Int
  var next: Entry?
  unowned(unsafe) var previous: Entry?
  init(_ key: Int) { self.key = key }
}
final class RecentlyUsed {
  var first: Entry?
  var last: Entry?
  @inline(never) func add(_ key: Int) {
    let entry = Entry(key)  // allocated previous-node
    entry.previous = last
    last?.next = entry
    last = entry
    first = first ?? entry
  }
  // Forgets to tell the next one.
  @inline(never) func removeFirst() {
    first = first?.next  // freed previous-node
    use(1)
  }
  @inline(never) func keyBeforeLast() -> Int {
    guard let previous = last?.previous else { return 0 }  // used previous-node
    return previous.key
  }
}
private func previousNode() {
  let list = RecentlyUsed()
  list.add(1)
  list.add(2)
  list.removeFirst()
  use(list.keyBeforeLast())
}

// MARK: A token that an actor left behind

// BUG actor-connection kind=method|retain|field type=App.Connection
class Connection {
  var sent = 0
  func send(_ bytes: [UInt8]) { sent += bytes.count }
}
actor ConnectionPool {
  private var connections: [Int: Connection] = [:]
  func open(_ number: Int) -> UInt {
    let connection = Connection()  // allocated actor-connection
    connections[number] = connection
    return UInt(bitPattern: Unmanaged.passUnretained(connection).toOpaque())
  }
  func close(_ number: Int) {
    connections[number] = nil  // freed actor-connection
    use(connections.count)
  }
}
private func actorConnection() {
  let pool = ConnectionPool()
  nonisolated(unsafe) var done = sem_t()
  sem_init(&done, 0, 0)
  Task.detached {
    let token = await pool.open(1)
    await pool.close(1)
    sendLate(token)
    sem_post(&done)
  }
  sem_wait(&done)
}
@inline(never) private func sendLate(_ token: UInt) {
  let connection = Unmanaged<Connection>.fromOpaque(UnsafeRawPointer(bitPattern: token)!)
  connection._withUnsafeGuaranteedRef { $0.send([1, 2, 3]) }  // used actor-connection
}

// MARK: A closure that C kept

// BUG completion-box kind=retain|field type=App.Completion
final class Completion {
  let call: (Int) -> Void
  init(_ call: @escaping (Int) -> Void) { self.call = call }
}
@inline(never) private func submit(_ list: OpaquePointer) {
  let completion = Completion { use($0) }  // allocated completion-box
  parts_list_add(list, Unmanaged.passUnretained(completion).toOpaque())
  use(completion.call is AnyObject ? 1 : 0)
}  // freed completion-box
private func completionBox() {
  let list = parts_list_new()!
  submit(list)
  parts_list_end(list) {
    Unmanaged<Completion>.fromOpaque($0!)._withUnsafeGuaranteedRef { $0.call(1) }  // used completion-box
  }
}

let handlers: [(name: String, run: () -> Void)] = [
  ("nio-handler", nioHandler), ("closed-session", closedSession), ("c-timer", cTimer), ("delegate", delegate),
  ("previous-node", previousNode), ("actor-connection", actorConnection), ("completion-box", completionBox),
]
