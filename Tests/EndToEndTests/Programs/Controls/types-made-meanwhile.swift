// A thread makes generic types without end, in memory that is mapped meanwhile, while the check reads the metadata of the program:
// what lies behind the memory map that it has, or is half made, is no reason to refuse an answer.
// EXPECT silent
import Foundation

class Base<T> {
  var value: T?
  var next: Base<T>?
}

final class Node<T>: Base<(T, [Node<T>])> {
  var peer: Node<T>?
  var table: [String: (Node<T>, T?)] = [:]
}

protocol Step {
  static func next() -> any Step.Type
  static func make() -> AnyObject
}

struct First: Step {
  static func next() -> any Step.Type { Pair<First, First>.self }
  static func make() -> AnyObject { Node<First>() }
}

struct Pair<A: Step, B: Step>: Step {
  static func next() -> any Step.Type { Bool.random() ? Pair<Pair<A, B>, First>.self : Pair<First, Pair<A, B>>.self }
  static func make() -> AnyObject { Node<Pair<A, B>>() }
}

nonisolated(unsafe) var last: AnyObject?

let maker = Thread {
  while true {
    var type: any Step.Type = First.self
    for _ in 0..<24 {
      type = type.next()
      last = type.make()
    }
  }
}
maker.stackSize = 64 << 20
maker.start()
Thread.sleep(forTimeInterval: 0.05)
exit(0)
