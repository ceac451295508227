// A function returns the pointee of memory that it never deallocates, as socket option helpers do.
// MODULE Net
// EXPECT leak kind=unreferenced types=raw*memory count=16 at=allocation
import Glibc

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
    let pointer = UnsafeMutablePointer<O.Value>.allocate(capacity: 1)  // @allocation
    var length = socklen_t(MemoryLayout<O.Value>.size)
    getsockopt(file, SOL_SOCKET, option.name, pointer, &length)
    return pointer.pointee
  }
}
let socket = Socket(file: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
for _ in 0..<16 { _ = socket.value(for: IntOption(name: SO_REUSEADDR)) }
close(socket.file)
