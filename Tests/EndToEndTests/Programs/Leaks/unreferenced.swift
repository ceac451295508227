// Memory and objects that nothing refers to any more.
import Glibc

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// Buffers in all their forms that are never deallocated.
// EXPECT leak kind=unreferenced types=raw*memory count=3 at=buffer
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=raw
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=aligned
// EXPECT leak kind=unreferenced types=App.Header count=2
final class Header: ManagedBuffer<Int, UInt8> {}

@inline(never) func buffer() -> Int {
  let buffer = UnsafeMutableBufferPointer<Int>.allocate(capacity: 50)  // @buffer
  buffer.initialize(repeating: 4)
  return buffer[7]
}
@inline(never) func raw() -> UInt8 {
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 300, alignment: 8)  // @raw
  bytes[0] = 3
  return bytes[0] &+ bytes[1]
}
@inline(never) func aligned() -> Int {
  let pointer = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 256)  // @aligned
  pointer.storeBytes(of: 5, as: Int.self)
  return pointer.load(as: Int.self)
}
@inline(never) func managed() -> Int {
  let header = Header.create(minimumCapacity: 30) { _ in 30 }
  return Unmanaged.passRetained(header).takeUnretainedValue().capacity
}
var total = 0
for _ in 0..<3 { total += buffer() }
for _ in 0..<2 { total += Int(raw()) }
for _ in 0..<2 { total += aligned() }
for _ in 0..<2 { total += managed() }
print(total > 0)

// Memory that C functions return to their Swift callers, who must free it.
// EXPECT leak kind=unreferenced types=raw*memory count=3 at=strdup
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=realpath
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=getcwd
@inline(never) func copied(_ text: String) -> Int { strlen(strdup(text)) }  // @strdup
@inline(never) func resolved() -> Int { strlen(realpath("/tmp/../usr", nil)) }  // @realpath
@inline(never) func directory() -> Int { strlen(getcwd(nil, 0)) }  // @getcwd

for number in 0..<3 { print(copied("text \(number)")) }
for _ in 0..<2 { print(resolved()) }
for _ in 0..<2 { print(directory() > 0) }

// malloc, calloc, realloc and posix_memalign called by Swift code.
// EXPECT leak kind=unreferenced types=raw*memory count=4 at=malloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=calloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=realloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=memalign
@inline(never) @_optimize(none) func check(_ pointer: UnsafeMutableRawPointer?) {
  if pointer == nil { exit(1) }
}

@inline(never) func plain() { check(malloc(300)) }  // @malloc
@inline(never) func cleared() { check(calloc(10, 30)) }  // @calloc
@inline(never) func grown() { check(realloc(nil, 90)) }  // @realloc
@inline(never) func alignedBlock() {
  var pointer: UnsafeMutableRawPointer?
  _ = posix_memalign(&pointer, 64, 640)  // @memalign
  check(pointer)
}
for _ in 0..<4 { plain() }
for _ in 0..<2 { cleared() }
for _ in 0..<2 { grown() }
for _ in 0..<2 { alignedBlock() }

// A generic struct allocates memory that nobody frees: a struct has no deinit.
// EXPECT leak kind=unreferenced types=raw*memory count=8 at=allocation
struct Buffer<Element> {
  let start: UnsafeMutablePointer<Element>
  let count: Int
  @inline(never) init(repeating element: Element, count: Int) {
    start = .allocate(capacity: count)  // @allocation
    start.initialize(repeating: element, count: count)
    self.count = count
  }
  var last: Element { start[count - 1] }
}
@inline(never) func work(_ number: Int) -> Int { Buffer(repeating: number, count: 100).last }
var sum = 0
for number in 0..<8 { sum += work(number) }
print(sum)

// Raw memory that holds objects: the memory is the leak, the objects hang off it.
// EXPECT leak kind=unreferenced types=raw*memory count=3 also=App.Sample at=samples
final class Sample {
  var value = 4
}
@inline(never) @_optimize(none) func useSamples(_ pointer: UnsafeMutablePointer<Sample>) {}

@inline(never) func record() {
  let samples = UnsafeMutablePointer<Sample>.allocate(capacity: 10)  // @samples
  for index in 0..<10 { (samples + index).initialize(to: Sample()) }
  useSamples(samples)
}
for _ in 0..<3 { record() }

// A function returns the pointee of memory that it never deallocates, as socket option helpers do.
// EXPECT leak kind=unreferenced types=raw*memory count=16 at=value
protocol Option {
  associatedtype Value
  var name: Int32 { get }
}
struct IntOption: Option {
  typealias Value = Int32
  let name: Int32
}
struct Socket {
  let file: Int32
  @inline(never) func value<O: Option>(for option: O) -> O.Value {
    let pointer = UnsafeMutablePointer<O.Value>.allocate(capacity: 1)  // @value
    var length = socklen_t(MemoryLayout<O.Value>.size)
    getsockopt(file, SOL_SOCKET, option.name, pointer, &length)
    return pointer.pointee
  }
}
let socket = Socket(file: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
for _ in 0..<16 { _ = socket.value(for: IntOption(name: SO_REUSEADDR)) }
close(socket.file)

// `passRetained` without a release: nobody points at the object, its count says that somebody does.
// EXPECT leak kind=unreferenced types=App.Token count=25 at=token also=App.Payload
final class Payload {
  var bytes = [UInt8](repeating: 7, count: 200)
}
final class Token {
  let payload = Payload()
}
@inline(never) @_optimize(none) func send(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func register() {
  let token = Token()  // @token
  send(Unmanaged.passRetained(token).toOpaque())
}
for _ in 0..<25 { register() }

// An object keeps itself alive through an Unmanaged property.
// EXPECT leak kind=retainCycle|unreferenced types=App.Connection count=5 at=connection
final class Connection {
  var handle: Unmanaged<Connection>?
  func open() { handle = Unmanaged.passRetained(self) }
}

@inline(never) func connect() {
  let connection = Connection()  // @connection
  connection.open()
  use(connection)
}
for _ in 0..<5 { connect() }
