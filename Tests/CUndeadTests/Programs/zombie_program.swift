// Uses dead objects in many ways; the first argument says in which. The preloaded library keeps and reports them.
import Dispatch
import Foundation
import Synchronization

class Animal {
  var legs = 4
  func speak() -> Int { legs }
  class func kingdom() -> Int { 1 }
}
class Dog: Animal {
  var friends = [1, 2, 3]
  var name = "a name that does not fit into a small string"
  override func speak() -> Int { friends.count }
  func fetch(_ stick: Int) async -> Int { stick + legs }
}
protocol Speaker: AnyObject { func say() -> Int }
extension Dog: Speaker { func say() -> Int { speak() } }
class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
  func get() -> Value { value }
}
class Pack<each Value> {
  var count = 1
  func size() -> Int { count }
}
class Holder<Value: ~Copyable> {
  var count = 1
  func size() -> Int { count }
}
struct Outer<Value> {
  class Inner {
    var count = 1
    func size() -> Int { count }
  }
}
class Job: Operation, @unchecked Sendable {
  var result = 3
  func outcome() -> Int { result }
}
actor Counter {
  var count = 1
  func next() -> Int {
    count += 1
    return count
  }
}
final class Point {
  var x = 7
  var y = 8
}
class Keeper {
  unowned var safe: Dog
  unowned(unsafe) var unsafe: Dog
  weak var weak: Dog?
  init(_ dog: Dog) {
    safe = dog
    unsafe = dog
    weak = dog
  }
}

@inline(never) @_optimize(none) func dead<Object: AnyObject>(_ make: () -> Object) -> Unmanaged<Object> {
  let object = make()
  return Unmanaged.passUnretained(object)
}
@inline(never) func ask<Object: AnyObject>(_ object: Unmanaged<Object>, _ question: (Object) -> Int) -> Int {
  object._withUnsafeGuaranteedRef { question($0) }
}
@inline(never) @_optimize(none) func keep<Value>(_ value: Value) {}

func library<Function>(_ name: String, as type: Function.Type) -> Function {
  unsafeBitCast(dlsym(nil, name), to: type)
}
func counters() -> undead_zombie_counters {
  var counters = undead_zombie_counters()
  typealias Read = @convention(c) (UnsafeMutablePointer<undead_zombie_counters>) -> Void
  library("undead_zombies_read_counters", as: Read.self)(&counters)
  return counters
}
func resize(_ bytes: UInt64, _ count: UInt64, _ age: UInt64 = 0) {
  var budget = undead_zombie_budget(bytes: bytes, count: count, age_milliseconds: age)
  typealias Resize = @convention(c) (UnsafePointer<undead_zombie_budget>) -> Void
  library("undead_zombies_resize", as: Resize.self)(&budget)
}
// Looked up once: the name that is handed to C dies in between, and may take the place of the object that is asked about.
let isDead = library("undead_zombie_is_dead", as: (@convention(c) (UnsafeRawPointer) -> Bool).self)
func isKept<Object: AnyObject>(_ object: Unmanaged<Object>) -> Bool { isDead(object.toOpaque()) }
/// Which objects are kept: known as dead, and with the class that the one that died last has.
func marks(_ objects: [Unmanaged<Animal>]) -> String {
  let classes = objects.map { $0.toOpaque().load(as: UInt.self) }
  return zip(objects, classes).map { isKept($0) && $1 == classes.last ? "k" : "-" }.joined()
}

// Calls a closure whose context has been freed.
@inline(never) func callDeadClosure() -> Int {
  var closure: (() -> Int)? = {
    let dog = Dog()
    var calls = 0
    return {
      calls += 1
      return dog.speak() + calls
    }
  }()
  var words = withUnsafeBytes(of: &closure) { ($0.load(as: UInt.self), $0.load(fromByteOffset: 8, as: UInt.self)) }
  closure = nil
  return withUnsafePointer(to: &words) {
    $0.withMemoryRebound(to: (() -> Int).self, capacity: 1) { $0.pointee() }
  }
}

func wait(_ work: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task {
    await work()
    done.signal()
  }
  done.wait()
}

func threads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count) { work($0) }
}

/// A point is freed on another thread, which has ended before it is used, or not.
func freeElsewhere(andEnd ends: Bool) {
  usleep(50_000)  // the kernel counts the ages of threads in hundredths of a second
  let point = Unmanaged.passRetained(Point())
  let freed = DispatchSemaphore(value: 0)
  let used = DispatchSemaphore(value: 0)
  let work: () -> Void = {
    point.release()
    freed.signal()
    if !ends { used.wait() }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    {
      Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().run()
      return nil
    },
    Unmanaged.passRetained(Work(work)).toOpaque())
  freed.wait()
  if ends { pthread_join(thread, nil) }
  print(ask(point) { $0.y })
  used.signal()
}
final class Work {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
@inline(never) @_optimize(none) func numbers() -> UnsafeMutablePointer<Int> {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 10)
  numbers.initialize(repeating: 7, count: 10)
  return numbers
}

func use(_ way: String) {
  switch way {
  case "raw", "freed-twice":
    let memory = numbers()
    memory.deallocate()
    if way == "raw" { print(memory[3]) } else { memory.deallocate() }
  case "resized":
    for count in 1...40 {
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: count)
      memory.initialize(repeating: 7, count: count)
      let larger = realloc(memory, 1000)!.assumingMemoryBound(to: Int.self)
      if !(0..<count).allSatisfy({ larger[$0] == 7 }) { print("lost of \(count)") }
      free(larger)
    }
    print(7)
  case "aligned":
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 64)
    precondition(UInt(bitPattern: memory) % 64 == 0)
    memory.deallocate()
    print(memory.load(fromByteOffset: 8, as: Int.self))
  case "before":
    let memory = numbers()
    memory.deallocate()
    print(memory[-1])
  case "calls": useInCalls()
  case "masked-handler":
    stale = numbers()
    stale.deallocate()
    var action = sigaction()
    sigfillset(&action.sa_mask)
    action.__sigaction_handler.sa_handler = { _ in stale[3] += 1 }
    sigaction(SIGUSR1, &action, nil)
    raise(SIGUSR1)
  case "overflow":
    let memory = numbers()
    memory[10] = 1
    print(memory[10])
    memory.deallocate()
  case "data":
    var data: Data? = Data(repeating: 7, count: 100)
    let bytes = data!.withUnsafeBytes { $0.baseAddress! }
    data = nil
    print(bytes.load(fromByteOffset: 50, as: UInt8.self))
  case "retained-storage":
    var array: [Int]? = [1, 2, 3]
    array!.append(4)
    let storage = Unmanaged.passUnretained(unsafeBitCast(array!, to: AnyObject.self))
    array = nil
    _ = storage.retain()
  case "array-storage":
    var array = [1, 2, 3]
    array.append(4)
    let pointer = array.withUnsafeBufferPointer { $0.baseAddress! }
    array = []
    print(pointer[2])
  case "race", "order": freeElsewhere(andEnd: way == "order")
  case "chosen":
    for _ in 0..<300_000 { keep(Point()) }
    print(counters().guarded)
  case "siblings":
    // How many objects each has until one is chosen; the parent makes none meanwhile.
    let fork = library("fork", as: (@convention(c) () -> Int32).self)
    var (first, differ): (Int32, Bool) = (-1, false)
    for _ in 0..<8 {
      let child = fork()
      if child == 0 {
        let before = counters().guarded
        var objects: Int32 = 0
        while counters().guarded == before {
          keep(Point())
          objects += 1
        }
        _exit(objects % 251)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      if first < 0 { first = status } else if status != first { differ = true }
    }
    print(differ)
  case "long-lived": living = (0..<500).map { _ in Unmanaged.passRetained(Animal()) }
  case "again":
    for _ in 0..<10_000 { keep(ask(dead { Point() }) { $0.y }) }
  case "method": print(ask(dead { Dog() as Animal }) { $0.speak() })
  case "getter": print(ask(dead { Animal() }) { $0.legs })
  case "class": print(ask(dead { Dog() as Animal }) { type(of: $0).kingdom() })
  case "witness": print(ask(dead { Dog() }) { ($0 as any Speaker).say() })
  case "unmanaged": print(dead { Dog() as Animal }.takeUnretainedValue().speak())
  case "generic": print(ask(dead { Box([1]) }) { $0.get().count })
  case "pack": print(ask(dead { Pack<Int, String>() }) { $0.size() })
  case "noncopyable": print(ask(dead { Holder<Int>() }) { $0.size() })
  case "nested": print(ask(dead { Outer<Int>.Inner() }) { $0.size() })
  case "operation": print(ask(dead { Job() }) { $0.outcome() })
  case "async": wait { keep(await dead { Dog() }.takeUnretainedValue().fetch(1)) }
  case "actor": wait { keep(await dead { Counter() }.takeUnretainedValue().next()) }
  case "release": dead { Dog() }.release()
  case "retain": keep(dead { Dog() }.retain())
  case "cast": print(ask(dead { Dog() as Animal }) { ($0 as? Dog) == nil ? 0 : 1 })
  case "closure": print(callDeadClosure())
  case "unowned":
    var keeper: Keeper?
    do { keeper = Keeper(Dog()) }
    print(keeper!.safe.speak())
  case "unowned-unsafe":
    var keeper: Keeper?
    do { keeper = Keeper(Dog()) }
    print(keeper!.unsafe.speak())
  case "reference-field": print(dead { Dog() }.toOpaque().load(fromByteOffset: 24, as: [Int].self).count)
  case "read": print(ask(dead { Point() }) { $0.y })
  case "write":
    print(
      ask(dead { Point() }) {
        $0.x = 1
        return 1
      })
  default: manage(way)
  }
}

func manage(_ way: String) {
  switch way {
  case "fifo":
    resize(1 << 20, 3)
    // All alive at once, so that none has the address of another.
    var living = (0..<6).map { _ in Animal() }
    let objects = living.map(Unmanaged.passUnretained)
    while !living.isEmpty { living.removeFirst() }
    print(marks(objects), counters().evicted_for_count)
    resize(1 << 20, 2)
    print(marks(objects))
    resize(0, 0)
    print(marks(objects), counters().kept, isKept(dead { Animal() }))
  case "stop":
    let objects = (0..<100).map { _ in dead { Animal() } }
    library("undead_zombies_stop", as: (@convention(c) () -> Void).self)()
    let after = counters()
    print(marks(objects).contains("k"), after.kept, after.kept_bytes, after.deaths == after.evicted_for_end)
    keep(dead { Animal() })
    print(counters().deaths == after.deaths)
  case "lists":
    print(isKept(dead { Animal() }), isKept(dead { Dog() }), isKept(dead { Box(1) }), isKept(dead { Point() }))
  case "references":
    resize(1 << 20, 1)
    var keeper: Keeper?
    do { keeper = Keeper(Dog()) }
    print(keeper!.weak == nil)
    for _ in 0..<10 { keep(dead { Animal() }) }
    keeper = nil
    print(counters().kept)
  case "age":
    resize(1 << 20, 100, 20)
    let old = dead { Animal() }
    usleep(200_000)
    keep(dead { Animal() })
    print(isKept(old), counters().evicted_for_age)
  case "handler":
    typealias Handler = @convention(c) (UnsafePointer<undead_zombie>?, UnsafeMutableRawPointer?) -> Void
    let handler: Handler = { zombie, _ in
      print(zombie!.pointee.kind, String(cString: zombie!.pointee.type), zombie!.pointee.count)
    }
    typealias Set = @convention(c) (Handler, UnsafeMutableRawPointer?) -> Void
    library("undead_zombies_set_handler", as: Set.self)(handler, nil)
    let dog = dead { Dog() as Animal }
    for _ in 0..<5 { keep(ask(dog) { $0.speak() }) }
    keep(dead { Dog() }.retain())
    library("undead_zombies_settle", as: (@convention(c) () -> Void).self)()
    typealias Report = @convention(c) (UInt32, UnsafeRawPointer, UnsafePointer<CChar>, UInt) -> Bool
    print(library("undead_zombie_report", as: Report.self)(8, dog.toOpaque(), "App.Unknown", 0))
    print(library("undead_zombie_report", as: Report.self)(8, UnsafeRawPointer(bitPattern: 4096)!, "App.Unknown", 0))
  case "fork":
    let fork = library("fork", as: (@convention(c) () -> Int32).self)
    let child = fork()
    if child == 0 {
      keep(ask(dead { Dog() as Animal }) { $0.speak() })
      _exit(9)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    print(status & 0x7f)
  case "own-handler":
    var action = sigaction()
    var seen = sigaction()
    action.__sigaction_handler.sa_handler = { _ in _exit(42) }
    sigaction(SIGSEGV, &action, nil)
    sigaction(SIGSEGV, nil, &seen)
    guard seen.sa_flags == action.sa_flags else { _exit(1) }
    print(dead { Dog() }.toOpaque().load(fromByteOffset: 24, as: [Int].self).count)
  case "own-fault":
    signal(SIGSEGV) { _ in _exit(43) }
    UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = 1
  case "threads", "threads-and-zombies":
    threads(8) { thread in
      for round in 0..<2000 {
        let dog = Dog()
        weak let other = dog
        dog.friends.append(round)
        keep(other?.speak())
        if way != "threads" && round % 100 == 0 { keep(ask(dead { Animal() }) { $0.speak() }) }
      }
    }
    let end = counters()
    print(end.zombies > 0, end.deaths >= 16_000, end.evicted_for_bytes > 0, end.missed)
  case "no-mprotect", "no-memory", "small-stack", "thousands": endure(way)
  default: manageThreads(way)
  }
}

nonisolated(unsafe) var stale = numbers()
nonisolated(unsafe) var waiting: Int32 = 0
let isWaiting = Atomic(false)

/// A list of `msghdr` with a length behind each: glibc's header shows it to C with GNU's extensions only.
@_silgen_name("sendmmsg")
func sendMessages(_ socket: Int32, _ messages: UnsafeMutableRawPointer?, _ count: UInt32, _ flags: Int32) -> Int32

/// Calls of the system with memory that was freed, which do what they would have done.
func useInCalls() {
  var ends: [Int32] = [0, 0]
  socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
  func freed() -> UnsafeMutableRawPointer {
    let memory = numbers()
    memory.deallocate()
    return UnsafeMutableRawPointer(memory) + 16
  }
  var counts = [write(ends[0], freed(), 8), read(ends[1], freed(), 8)]
  counts += [send(ends[0], freed(), 8, 0), recv(ends[1], freed(), 8, 0)]
  var word = 0
  var buffer = iovec(iov_base: freed(), iov_len: 8)
  counts += [writev(ends[0], &buffer, 1)]
  buffer.iov_base = freed()
  counts += [readv(ends[1], &buffer, 1)]
  buffer.iov_base = freed()
  counts += [pwritev(ends[0], &buffer, 1, 0)]  // a socket has no places: refused, but the memory was named
  counts += [
    withUnsafeMutablePointer(to: &buffer) { buffer in
      buffer.pointee.iov_base = freed()
      var message = (msghdr(), length: 0)
      message.0.msg_iov = buffer
      message.0.msg_iovlen = 1
      return Int(sendMessages(ends[0], &message, 1, 0)) + read(ends[1], &word, 8)
    }
  ]
  // What lies in the pool, and what lies elsewhere.
  let memory = numbers()
  counts += [write(ends[0], memory, 16), read(ends[1], &word, 8), read(ends[1], memory, 8), read(ends[1], nil, 0)]
  memory.deallocate()
  // What is no list of buffers is for the kernel to refuse.
  counts += [writev(ends[0], UnsafePointer(bitPattern: 8), 2)]
  counts += [recvmsg(ends[1], UnsafeMutablePointer(bitPattern: 8), 0)]
  counts += [
    sendmsg(ends[0], UnsafePointer(bitPattern: 8), 0),
    Int(sendMessages(ends[0], UnsafeMutableRawPointer(bitPattern: 8), 1, 0)),
  ]
  // The block dies while the call waits for something to read.
  stale = numbers()
  waiting = ends[1]
  let reader = onThread { _ in
    isWaiting.store(true, ordering: .releasing)
    return UnsafeMutableRawPointer(bitPattern: read(waiting, stale + 2, 8))
  }
  while !isWaiting.load(ordering: .acquiring) {}
  stale.deallocate()
  counts += [write(ends[0], &word, 8)]
  var result: UnsafeMutableRawPointer?
  pthread_join(reader, &result)
  print(counts + [Int(bitPattern: result)])
}

/// What a system may refuse, while objects are made, die and are used.
func endure(_ way: String) {
  let memory = numbers()
  let stale = dead { Point() }
  switch way {
  case "no-mprotect": denyMprotect()
  case "no-memory":
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(9), &none)  // RLIMIT_AS
  case "small-stack": useSmallStack()
  default:
    for _ in 0..<20 {
      let threads = (0..<100).map { _ in
        onThread { _ in
          churn(20)
          return nil
        }
      }
      for thread in threads { pthread_join(thread, nil) }
    }
  }
  memory.deallocate()
  for round in 0..<100 {
    let fresh = numbers()
    fresh[9] = round
    precondition(fresh[9] + fresh[0] == round + 7)
    fresh.deallocate()
  }
  print(ask(stale) { $0.y }, memory[9])
}

/// As a filter of a container may: EPERM.
func denyMprotect() {
  let prctl = library("prctl", as: (@convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32).self)
  // Load the number; is it 10? Then an error, else let it pass.
  let program: [UInt64] = [
    0x20, 0x15 | 1 << 24 | 10 << 32, 0x06 | 0x0005_0001 << 32, 0x06 | 0x7FFF_0000 << 32,
  ]
  program.withUnsafeBufferPointer { code in
    withUnsafeTemporaryAllocation(of: UInt.self, capacity: 2) { filter in
      filter[0] = UInt(code.count)
      filter[1] = UInt(bitPattern: code.baseAddress)
      precondition(prctl(38, 1, 0, 0, 0) == 0)  // PR_SET_NO_NEW_PRIVS
      precondition(prctl(22, 2, UInt(bitPattern: filter.baseAddress), 0, 0) == 0)  // PR_SET_SECCOMP
    }
  }
}

/// Signals come to a stack as small as programs have it, with nothing below.
func useSmallStack() {
  let page = 4096
  let room = mmap(nil, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  mprotect(room + page, 2 * page, PROT_READ | PROT_WRITE)
  var stack = stack_t(ss_sp: room + page, ss_flags: 0, ss_size: 2 * page)
  precondition(sigaltstack(&stack, nil) == 0)
}

/// Lets a tree of objects die, and objects of many sizes.
@inline(never) func churn(_ rounds: Int) {
  for round in 0..<rounds {
    let dog = Dog()
    dog.friends = Array(repeating: round, count: round % 64)
    keep(dead { Animal() })
  }
}
/// On a thread of its own, which then ends.
func onThread(_ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, work, nil)
  return thread
}
/// What the counters say belongs together; then all is freed.
func settle(_ budget: UInt64) -> String {
  let end = counters()
  let gone = end.evicted_for_bytes + end.evicted_for_count + end.evicted_for_age
  let isExact = end.kept == end.deaths - gone && end.kept_bytes <= budget && end.missed == 0
  resize(0, 0)
  let after = counters()
  return "\(isExact) \(after.kept) \(after.kept_bytes)"
}

func manageThreads(_ way: String) {
  switch way {
  case "short-threads":
    for _ in 0..<50 {
      let threads = (0..<4).map { _ in
        onThread { _ in
          churn(1000)
          return nil
        }
      }
      for thread in threads { pthread_join(thread, nil) }
    }
    print(counters().evicted_for_bytes > 0, settle(16 << 20))
  case "long-gone-thread":
    // What a thread that has ended let die goes before what died later.
    // Too large for the caches of threads, so that no other gets its address.
    let thread = onThread { _ in
      first = dead { Big.create(minimumCapacity: 5000) { _ in 0 } }
      return nil
    }
    pthread_join(thread, nil)
    let wasKept = isKept(first!)
    for _ in 0..<200_000 { keep(dead { Animal() }) }
    print(wasKept, isKept(first!), settle(16 << 20))
  case "large":
    // One object needs the room of most of the others, whichever thread they died on.
    threads(8) { _ in churn(3000) }
    let large = dead { Big.create(minimumCapacity: 10 << 20) { _ in 0 } }
    print(isKept(large), settle(16 << 20))
  case "fork-and-threads":
    // Types that another thread is about to make in the moment of the fork stay unmade in the child.
    churn(100)
    _ = isKept(dead { Animal() })
    for _ in 0..<4 {
      pthread_detach(
        onThread { _ in
          while true { churn(100) }
        })
    }
    let fork = library("fork", as: (@convention(c) () -> Int32).self)
    for _ in 0..<15 {
      let child = fork()
      if child == 0 {
        alarm(20)
        let mine = dead { Animal() }
        churn(300)
        let kept = isKept(mine)
        resize(0, 0)
        _exit(kept && counters().kept == 0 ? 7 : 8)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      if status != 7 << 8 { print("child: \(status)") }
    }
    print("done")
    exit(0)
  case "signals":
    // A handler in which objects die, wherever it interrupts the deaths of others. Neither of them allocates.
    living = (0..<400_000).map { _ in Unmanaged.passRetained(Animal()) }
    signal(SIGPROF) { _ in letGo(3) }
    var timer = itimerval(it_interval: timeval(tv_sec: 0, tv_usec: 500), it_value: timeval(tv_sec: 0, tv_usec: 500))
    let before = counters().deaths
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    while next.load(ordering: .relaxed) < living.count { letGo(100) }
    timer = itimerval()
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
    print(counters().deaths - before > 390_000, settle(64 << 20))
  default: print("no such way: \(way)")
  }
}
nonisolated(unsafe) var first: Unmanaged<ManagedBuffer<Int, UInt8>>?
nonisolated(unsafe) var living: [Unmanaged<Animal>] = []
let next = Atomic(0)
@inline(never) func letGo(_ count: Int) {
  let start = next.wrappingAdd(count, ordering: .relaxed).oldValue
  living.withUnsafeBufferPointer { living in
    for index in min(start, living.count)..<min(start + count, living.count) { living[index].release() }
  }
}
final class Big: ManagedBuffer<Int, UInt8> {}

setvbuf(stdout, nil, Int32(_IONBF), 0)
for way in CommandLine.arguments.dropFirst() { use(way) }
