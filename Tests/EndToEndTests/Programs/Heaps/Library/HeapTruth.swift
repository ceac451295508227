// What a program knows about its own heap, a line each on standard output; HeapJudge.swift has the grammar.
import Glibc

@_silgen_name("malloc_usable_size") func mallocSize(_ block: UnsafeMutableRawPointer) -> Int

public final class Leaf: @unchecked Sendable {
  public var number = 0
  public init() {}
  public func use() { number += 1 }
}
public final class Other: @unchecked Sendable {
  public var number = 0.0
  public init() {}
}

public func address(_ object: AnyObject) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) }

/// The block of a collection, or whatever else is one reference.
public func storage<T>(_ value: T) -> UInt { unsafeBitCast(value, to: UInt.self) }

/// Where an object was made whose address is reported later; scrambled, so that no scan follows it.
nonisolated(unsafe) private var noted: [(name: String, address: UInt)] = []
private let lock: UnsafeMutablePointer<pthread_mutex_t> = {
  let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  pthread_mutex_init(lock, nil)
  return lock
}()

/// Notes an object that `tellNoted` is to tell of.
public func noted<T: AnyObject>(_ name: String, _ object: T) -> T {
  pthread_mutex_lock(lock)
  noted.append((name, ~address(object)))
  pthread_mutex_unlock(lock)
  return object
}

public func tell(_ words: String...) { print(words.joined(separator: "\t")) }
private func hex(_ address: UInt) -> String { String(address, radix: 16) }

/// A block with this type and the size that malloc shows.
public func tellBlock(_ address: UInt, _ type: String) {
  tell("block", hex(address), type, "\(mallocSize(UnsafeMutableRawPointer(bitPattern: address)!))")
}
public func tellObject(_ object: AnyObject) { tellBlock(address(object), String(reflecting: type(of: object))) }

/// A reference with this field, exactly once between the two; the strength may be a choice: "counted|raw".
public func tellReference(_ from: UInt, _ field: String, _ to: UInt, _ strength: String = "counted") {
  tell("reference", hex(from), field, hex(to), strength)
}
/// An object whose strong references are all known to be counted ones.
public func tellOwned(_ object: UInt, _ name: String) { tell("owned", hex(object), name) }
/// An object that something else may own: perhaps fewer counted references than its strong count.
public func tellBorrowed(_ object: UInt, _ name: String) { tell("borrowed", hex(object), name) }
/// A global variable, whose readable name contains this, refers to the object.
public func tellRoot(_ object: UInt, _ name: String) { tell("root", hex(object), name) }
/// The bytes of all blocks that would go with this one.
public func tellRetained(_ block: UInt, _ bytes: Int) { tell("retained", hex(block), "\(bytes)") }
public func usableSize(_ block: UInt) -> Int { mallocSize(UnsafeMutableRawPointer(bitPattern: block)!) }

/// Tells of what was noted: objects with one of `borrowed` as a name have owners that count nothing.
public func tellNoted(_ type: String, borrowed: Set<String> = []) {
  for (name, scrambled) in noted {
    tellBlock(~scrambled, type)
    borrowed.contains(name) ? tellBorrowed(~scrambled, name) : tellOwned(~scrambled, name)
  }
}
