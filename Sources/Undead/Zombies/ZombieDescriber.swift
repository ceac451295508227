import Foundation
import UndeadReport
import UndeadSystem

/// Names uses of dead objects in the process where they happened.
enum ZombieDescriber {
  static func describe(_ events: [ZombieLog.Event]) -> [Zombie] {
    var log = ZombieLog(pid: ProcessInfo.processInfo.processIdentifier)
    log.moduleLists = [LoadedModules.list()]
    log.events = events.map { event in
      var event = event
      event.modules = 0
      return event
    }
    return ZombieFindings([ZombieInput.symbolizing(log, program: processName).input]).zombies
  }

  /// What the kernel calls the process.
  static var processName: String {
    guard let file = fopen("/proc/self/comm", "re") else { return "" }
    defer { fclose(file) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
      guard let start = buffer.baseAddress, fgets(start, 32, file) != nil else { return "" }
      return String(String(cString: start).prefix { $0 != "\n" })
    }
  }
}

/// The executable and libraries of this process.
enum LoadedModules {
  static func list() -> [Snapshot.Module] {
    var modules: [String: Snapshot.Module] = [:]
    let maps = MemoryMap.own ?? .unknown
    for region in maps.regions where region.path.hasPrefix("/") {
      if modules[region.path] != nil {
        modules[region.path]?.high = region.end
      } else if region.offset == 0, let file = try? ELFFile(path: region.path) {
        // What is added to an address of the file to get the address in memory.
        let bias = file.header.kind == .executable ? 0 : region.start
        modules[region.path] = Snapshot.Module(low: region.start, high: region.end, bias: bias, path: region.path)
      }
    }
    return modules.values.sorted { $0.low < $1.low }
  }
}
