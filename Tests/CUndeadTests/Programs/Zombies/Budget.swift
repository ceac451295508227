// What is kept, and for how long; handlers.
import Foundation

func manage(_ way: String) -> Bool {
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
  case "many-dead":
    // More than 100 MB of them.
    for _ in 0..<1_000_000 { keep(dead { Animal() }) }
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
  default: return false
  }
  return true
}
