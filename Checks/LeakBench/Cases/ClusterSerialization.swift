// source: apple/swift-distributed-actors c618ad80 (#542)
// A system and its serialization refer to each other. The fix clears the system's field at shutdown.
// expect: leak System via System.serialization

enum ClusterSerialization: LeakCase {
  struct Settings {
    var name: String
    var serializers: [Int: (Any) -> String] = [:]
  }

  struct Allocator {
    var capacity = 64
    let system: System
  }

  final class Serialization {
    let allocator: Allocator
    var settings: Settings
    @inline(never) init(_ settings: Settings, system: System) {
      self.settings = settings
      allocator = Allocator(system: system)
    }
  }

  final class System {
    private var serialization: Serialization!
    init(_ settings: Settings) { serialization = Serialization(settings, system: self) }
    func shutDown() {
      #if FIXED
        serialization = nil
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { System(Settings(name: "\(round)", serializers: [1: { "\($0)" }])).shutDown() }
  }
}
