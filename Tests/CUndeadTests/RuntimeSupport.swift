import CUndead
import CUndeadTestEntry

/// What the runtime layer says about one object, as if a scan had found it leaked.
struct ObjectDescription: Equatable {
  struct Word: Equatable {
    var offset: Int
    var label: String
    var type: String
    var ownership: String
    var isFunction: Bool
    var target: String
  }

  var name: String
  var skippedOffsets: [Int]
  var words: [Word]

  /// The labels of the words that keep their targets alive.
  var strongLabels: [String] {
    words.filter { $0.ownership == "strong" && !skippedOffsets.contains($0.offset) }.map(\.label)
  }

  func word(at offset: Int) -> Word? { words.first { $0.offset == offset } }
  func word(labelled label: String) -> Word? { words.first { $0.label == label } }
}

/// The entry points for tests are for one thread at a time, and not while a check reads the same tables; tests run on many.
func withRuntimeLayer<Result>(_ body: () throws -> Result) rethrows -> Result {
  undead_lock_checks()
  defer { undead_unlock_checks() }
  return try body()
}

func pointer(to object: AnyObject) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
}

func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt { base.load(fromByteOffset: offset, as: UInt.self) }

/// The isa, and whatever else an object starts with.
func firstWord(of object: AnyObject) -> UnsafeRawPointer {
  UnsafeRawPointer(bitPattern: word(pointer(to: object), 0))!
}

func describe(_ object: UnsafeRawPointer) -> ObjectDescription {
  var text = [CChar](repeating: 0, count: 1 << 16)
  let length = withRuntimeLayer { undead_test_describe(object, &text, text.count) }
  let lines = String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    .split(separator: "\n", omittingEmptySubsequences: false)
  var description = ObjectDescription(name: String(lines[0]), skippedOffsets: [], words: [])
  description.skippedOffsets = lines[1].split(separator: " ").dropFirst().compactMap { Int($0) }
  for line in lines.dropFirst(2) where !line.isEmpty {
    let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    description.words.append(
      .init(
        offset: Int(parts[0])!, label: parts[1], type: parts[2], ownership: parts[3],
        isFunction: parts[4] == "function", target: parts[5]))
  }
  return description
}

func describe(_ object: AnyObject) -> ObjectDescription {
  withExtendedLifetime(object) { describe(pointer(to: object)) }
}

/// Keeps a closure in a stored property, where it has no reabstraction thunk.
final class ClosureHolder {
  let closure: () -> Void
  init(_ closure: @escaping () -> Void) { self.closure = closure }

  /// The closure's context, `nil` if it captures nothing.
  var context: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: word(pointer(to: self), 24)) }
}

/// Describes the storage behind an array, dictionary or set, or the box of an indirect case: the value's only word.
/// Not optimised, so that the storage is not put on the stack.
@inline(never) @_optimize(none)
func describeStorage<Value>(of value: Value) -> ObjectDescription {
  precondition(MemoryLayout<Value>.size == MemoryLayout<UInt>.size)
  return withExtendedLifetime(value) {
    describe(withUnsafeBytes(of: value) { UnsafeRawPointer(bitPattern: $0.load(as: UInt.self))! })
  }
}

/// The address of the box that holds an error.
func boxAddress(of error: any Error) -> UnsafeRawPointer {
  // A generic function would open the existential; an optional is passed as it is.
  let optional: (any Error)? = error
  return withUnsafeBytes(of: optional) { UnsafeRawPointer(bitPattern: $0.load(as: UInt.self))! }
}

func describeBox(of error: any Error) -> ObjectDescription {
  withExtendedLifetime(error) { describe(boxAddress(of: error)) }
}

func describeContext(of closure: @escaping () -> Void) -> ObjectDescription {
  let holder = opaque(ClosureHolder(closure))
  return withExtendedLifetime(holder) { describe(holder.context!) }
}

/// Keeps the optimizer from proving anything about a value.
@inline(never) @_optimize(none)
func opaque<Value>(_ value: Value) -> Value { value }

func symbolName(at address: UInt) -> String {
  var text = [CChar](repeating: 0, count: 4096)
  _ = withRuntimeLayer { undead_test_symbol_at(address, &text, text.count) }
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// What the layout says of each word of an object behind its header: "r" raw, "c" counted, "n" number, "-" nothing.
func evidence(of object: UnsafeRawPointer) -> String {
  var text = [CChar](repeating: 0, count: 4096)
  let length = withRuntimeLayer { undead_test_evidence(object, &text, text.count) }
  return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func evidence(of object: AnyObject) -> String {
  withExtendedLifetime(object) { evidence(of: pointer(to: object)) }
}
