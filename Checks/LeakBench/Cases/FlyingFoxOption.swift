// source: swhitty/FlyingFox 48e68fa
// A generic function that reads an option allocated memory for it and freed it on no path.
// expect: leak raw in getValue

import Glibc

protocol FlyingFoxOptionProtocol {
  associatedtype Value
  var name: Int32 { get }
}

enum FlyingFoxOption: LeakCase {
  struct ReuseAddress: FlyingFoxOptionProtocol {
    typealias Value = Int32
    let name = SO_REUSEADDR
  }
  struct ReceiveTimeout: FlyingFoxOptionProtocol {
    typealias Value = timeval
    let name = SO_RCVTIMEO
  }

  @inline(never) static func getValue<Option: FlyingFoxOptionProtocol>(_ option: Option, of socket: Int32) -> Option
    .Value?
  {
    let pointer = UnsafeMutablePointer<Option.Value>.allocate(capacity: 1)
    #if FIXED
      defer { pointer.deallocate() }
    #endif
    var length = socklen_t(MemoryLayout<Option.Value>.size)
    guard getsockopt(socket, SOL_SOCKET, option.name, pointer, &length) >= 0 else { return nil }
    return pointer.pointee
  }

  @inline(never) static func run(rounds: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    for _ in 0..<rounds {
      precondition(getValue(ReuseAddress(), of: descriptor) != nil)
      precondition(getValue(ReceiveTimeout(), of: -1) == nil)
    }
    close(descriptor)
  }
}
