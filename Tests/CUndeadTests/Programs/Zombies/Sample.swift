// What is chosen, and who freed it.
import Dispatch
import Foundation

func sample(_ way: String) -> Bool {
  switch way {
  case "race", "order": freeElsewhere(andEnd: way == "order")
  case "chosen":
    for _ in 0..<100_000 { keep(Point()) }
    print(counters().guarded)
  case "siblings":
    // How many objects each has until one is chosen; the parent makes none meanwhile.
    let fork = library("fork", as: (@convention(c) () -> Int32).self)
    var (first, differ): (Int32, Bool) = (-1, false)
    for _ in 0..<8 {
      let child = fork()
      if child == 0 {
        let before = counters().guarded
        var objects: Int32 = 0
        while counters().guarded == before {
          keep(Point())
          objects += 1
        }
        _exit(objects % 251)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      if first < 0 { first = status } else if status != first { differ = true }
    }
    print(differ)
  case "places": print(placesChange())
  case "long-lived": living = (0..<500).map { _ in Unmanaged.passRetained(Animal()) }
  case "again":
    for _ in 0..<10_000 { keep(ask(dead { Point() }) { $0.y }) }
  default: return false
  }
  return true
}

/// Points are made, freed in the opposite order, and made again: how many of those that were not chosen are not where they were.
func placesChange() -> Int {
  func make() -> [Unmanaged<Point>] { (0..<60).map { _ in Unmanaged.passRetained(Point()) } }
  func places(_ points: [Unmanaged<Point>]) -> [UInt] { points.map { UInt(bitPattern: $0.toOpaque()) } }
  func free(_ points: [Unmanaged<Point>]) { for point in points.reversed() { point.release() } }
  // The runtime makes what it needs for these types, once and for all.
  for _ in 0..<2 {
    let points = make()
    _ = places(points)
    free(points)
  }
  let first = make()
  let before = places(first)
  free(first)
  let second = make()
  let after = places(second)
  free(second)
  // The heap of the main thread ends there, and the pool lies above.
  let end = UInt(bitPattern: sbrk(0))
  return zip(before, after).count { $0 < end && $1 < end && $0 != $1 }
}

/// A point is freed on another thread, which has ended before it is used, or not.
func freeElsewhere(andEnd ends: Bool) {
  usleep(50_000)  // the kernel counts the ages of threads in hundredths of a second
  let point = Unmanaged.passRetained(Point())
  let freed = DispatchSemaphore(value: 0)
  let used = DispatchSemaphore(value: 0)
  let work: () -> Void = {
    point.release()
    freed.signal()
    if !ends { used.wait() }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    {
      Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().run()
      return nil
    },
    Unmanaged.passRetained(Work(work)).toOpaque())
  freed.wait()
  if ends { pthread_join(thread, nil) }
  print(ask(point) { $0.y })
  used.signal()
}
final class Work {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}
