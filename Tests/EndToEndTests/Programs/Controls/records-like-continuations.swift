// Tables of handlers whose entries look like continuations of libdispatch, made by the program and by C functions.
// EXPECT silent
import Dispatch
import Foundation

final class Owner { var events = 0 }
typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// 64 bytes: what is a flag word there is a descriptor here, and the function is at the same place.
struct Handler {
  var descriptor: Int
  var events: UInt64 = 1
  var next: UnsafeMutableRawPointer?
  var deadline: UInt64 = 5
  var callback: Callback
  var context: UnsafeMutableRawPointer?
  var spare: UInt64 = 0
  var owner: UnsafeMutableRawPointer?
}
nonisolated(unsafe) var table: [UnsafeMutablePointer<Handler>] = []

func handler(_ descriptor: Int) -> Handler {
  let owner = Unmanaged.passRetained(Owner()).toOpaque()
  return Handler(descriptor: descriptor, next: nil, callback: { _ in }, context: nil, owner: owner)
}
@inline(never) func fill() {
  for descriptor in 256..<512 {
    let memory = descriptor % 2 == 0 ? malloc(64)! : calloc(1, 80 + descriptor % 16)!
    let entry = memory.bindMemory(to: Handler.self, capacity: 1)
    entry.initialize(to: handler(descriptor))
    table.append(entry)
  }
  // Blocks that libdispatch itself makes, with bytes of the program in them.
  for descriptor in 256..<300 {
    var record = handler(descriptor)
    let data = withUnsafeBytes(of: &record) { DispatchData(bytes: $0) }
    copies.append(data)
  }
}
nonisolated(unsafe) var copies: [DispatchData] = []

@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
DispatchQueue(label: "other").sync {}
fill()
scrub(20)
print(table.count, copies.count)
