// What closures keep for a field of an object, and descriptors that closures and waiting threads have. A name that begins with "no" is
// of what nothing may be said about.
import Dispatch
import Foundation

final class Photo {
  let name: String
  var pixels = [UInt8](repeating: 1, count: 2_000_000)
  var steps = 0
  weak var album: Album?
  init(_ name: String) { self.name = name }
  var label: String { name }
  func show() -> Int { pixels.count }
}

final class Album {
  weak var cover: Photo?
  let photos = Photo("noAlbum")
}

final class Log {
  var count = 0
  @inline(never) func note(_ number: Int) { count += number }
}

struct FileDescriptor { let rawValue: CInt }

struct Connection {
  var port = 80
  var fd: Int32
}

/// Numbers of open files, by fields that have others.
final class Limits {
  var maxFd: Int
  var fdCount: Int32
  var textureHandle: Int32
  let clientSocket: Int32
  init(_ maxFd: Int32, _ fdCount: Int32, _ textureHandle: Int32, _ clientSocket: Int32) {
    (self.maxFd, self.fdCount, self.textureHandle) = (Int(maxFd), fdCount, textureHandle)
    self.clientSocket = clientSocket
  }
}

nonisolated(unsafe) var handlers: [() -> Void] = []
nonisolated(unsafe) var numbers: [(Int) -> Bool] = []
nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var sources: [any DispatchSourceTimer] = []

func file(_ name: String) -> Int32 { open(name, O_RDWR | O_CREAT, 0o600) }

@inline(never) func show(_ photo: Photo) { kept.append(photo) }

@inline(never) func writeAll(_ descriptor: Int32) {
  var byte: UInt8 = 0
  while write(descriptor, &byte, 1) > 0 {}
}

@inline(never) func keepPhotos() {
  let name = Photo("name")
  handlers.append { print(name.name) }
  let label = Photo("label")
  handlers.append { print(label.label) }
  let (both, limit) = (Photo("both"), CommandLine.arguments.count)
  numbers.append { $0 == limit && both.steps > limit }
  let no1 = Photo("noCall")
  handlers.append { print(no1.name, no1.show()) }
  let no2 = Photo("noEscape")
  handlers.append {
    print(no2.name)
    show(no2)
  }
  let no3 = Photo("noChange")
  handlers.append { no3.steps += no3.name.count }
  let no4 = Photo("noIdentity")
  handlers.append { print(no4.name, kept.contains { $0 === no4 }) }
  // The optimiser makes a table of it, by which code goes on in the same function, with the object in a register that calls keep.
  let no6 = Photo("noTable")
  let log = Log()
  numbers.append { number in
    log.note(number)
    switch no6.steps {
    case 0: show(no6)
    case 1: no6.steps = number
    case 2: kept.append(log)
    case 3: print(no6.name, number)
    case 4: kept.removeAll()
    case 5: return no6.pixels.isEmpty
    default: no6.steps += 1
    }
    return log.count > number
  }
  let (no5, album) = (Photo("noWeak"), Album())
  album.cover = no5
  kept.append(album)
  handlers.append { print(no5.name) }
}

@inline(never) func keepDescriptors() {
  let closed = file("closed")
  let source = DispatchSource.makeTimerSource(queue: .global())
  source.schedule(deadline: .now() + 1000)
  source.setCancelHandler { close(closed) }
  source.resume()
  sources.append(source)
  let written = file("written")
  handlers.append { writeAll(written) }
  var variable = file("variable")
  handlers.append {
    close(variable)
    variable = -1
  }
  let typed = FileDescriptor(rawValue: file("typed"))
  handlers.append { print(typed) }
  let connection = Connection(fd: file("connection"))
  handlers.append { print(connection.port, connection.fd) }
  kept.append(Limits(file("noLimit"), file("noCount"), file("noTexture"), file("client")))
  let noNumber = file("noNumber")
  handlers.append { print(noNumber) }
  // Of two numbers that a closure has, what it does with the other says nothing.
  let (noAttempt, owner) = (file("noAttempt"), FileDescriptor(rawValue: Int32(1000 + handlers.count)))
  handlers.append { print(noAttempt, close(owner.rawValue)) }
  let noSignal = file("noSignal")
  handlers.append { kill(getpid(), noSignal) }
}

/// Nothing in memory says what the number is: the kernel knows who waits.
@inline(never) func serve() {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  listen(listener, 1)
  while accept(listener, nil, nil) >= 0 {}
}

keepPhotos()
keepDescriptors()
Thread.detachNewThread { serve() }
usleep(50_000)
print("ready")
fflush(stdout)
while readLine() != nil { for handler in handlers { handler() } }
