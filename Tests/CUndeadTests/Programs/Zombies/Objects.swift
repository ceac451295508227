// Uses of objects.
import Foundation

func useObject(_ way: String) -> Bool {
  switch way {
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
  case "escape": keep(dead { Ghost() })
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
  case "weakly":
    weak var weakly: Point?
    let makePoint = {
      let point = Point()
      weakly = point
      return point
    }
    print(ask(dead(makePoint)) { $0.y }, weakly == nil)
  case "write":
    print(
      ask(dead { Point() }) {
        $0.x = 1
        return 1
      })
  default: return false
  }
  return true
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
