import Foundation
import Synchronization

extension Scenario {
  static let aliveOnPurpose = [
    Scenario("31.1", "a singleton that holds a helper, which holds the singleton", .clean) { touchSingleton() },
    Scenario("31.2", "caches: NSCache, a dictionary behind a Mutex", .clean) { fillCaches() },
    Scenario("31.3", "objects in globals: enum payloads, existentials, closures, tuples", .clean) { fillGlobals() },
    Scenario("31.4", "thread-local values of threads that still run", .clean) { fillThreads() },
    Scenario("31.5", "lazy statics and lazy properties", .clean) { touchLazyStatics() },
  ]
}

final class Service: @unchecked Sendable {
  static let shared = Service()
  lazy var helper = ServiceHelper(service: self)
}

final class ServiceHelper {
  let service: Service
  init(service: Service) { self.service = service }
}

private func touchSingleton() { use(Service.shared.helper) }

final class Thumbnail: Sendable {
  let pixels = [UInt8](repeating: 0, count: 64)
}

private let thumbnails = Mutex<[String: Thumbnail]>([:])
nonisolated(unsafe) private let images = NSCache<NSString, NSNumber>()

private func fillCaches() {
  for number in 0..<20 {
    thumbnails.withLock { $0["thumbnail \(number)"] = Thumbnail() }
    images.setObject(NSNumber(value: Double(number) + 0.5), forKey: "image \(number)" as NSString)
  }
}

enum Shape: Sendable {
  case none
  case circle(Thumbnail)
  case square(Thumbnail)
  case both(Thumbnail, Thumbnail)
}

private let shapes = Mutex<[Shape]>([])
private let anything = Mutex<[any Sendable]>([])
private let handlers = Mutex<[@Sendable () -> Int]>([])
private let pair = Mutex<(Shape, Thumbnail?)>((.none, nil))

private func fillGlobals() {
  for number in 0..<20 {
    let thumbnail = Thumbnail()
    shapes.withLock { $0 += [.circle(Thumbnail()), .square(Thumbnail()), .both(Thumbnail(), thumbnail)] }
    anything.withLock { $0 += [Thumbnail(), number, "text number \(number) on the heap"] as [any Sendable] }
    handlers.withLock { $0.append { thumbnail.pixels.count + number } }
  }
  pair.withLock { $0 = (.circle(Thumbnail()), Thumbnail()) }
}

private func fillThreads() {
  let ready = DispatchSemaphore(value: 0)
  for _ in 0..<3 {
    Thread {
      Thread.current.threadDictionary["state"] = NSMutableArray(object: NSNumber(value: 1.5))
      let local = Thumbnail()
      ready.signal()
      withExtendedLifetime(local) { Thread.sleep(forTimeInterval: 600) }
    }.start()
  }
  for _ in 0..<3 { ready.wait() }
}

struct Constants {
  static let table = (0..<10).map { _ in Thumbnail() }
  static let formatter: NumberFormatter = {
    let formatter = NumberFormatter()
    formatter.numberStyle = .spellOut
    return formatter
  }()
}

private func touchLazyStatics() {
  use(Constants.table[0])
  _ = Constants.formatter.string(from: 7)
}
