import Foundation
import UndeadReport

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
  private static var processName: String {
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
    for line in lines(of: "/proc/self/maps") {
      let words = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard words.count == 6, let slash = words[5].firstIndex(of: "/") else { continue }
      let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard bounds.count == 2, let offset = UInt64(words[2], radix: 16) else { continue }
      let path = String(words[5][slash...])
      if modules[path] != nil {
        modules[path]?.high = bounds[1]
      } else if offset == 0, let bias = bias(of: path, mappedAt: bounds[0]) {
        modules[path] = Snapshot.Module(low: bounds[0], high: bounds[1], bias: bias, path: path)
      }
    }
    return modules.values.sorted { $0.low < $1.low }
  }

  private static let headerSize = 18
  private static let fixedAddresses: UInt16 = 2

  /// What is added to an address of the file to get the address in memory; nil if it is no ELF file.
  private static func bias(of path: String, mappedAt address: UInt64) -> UInt64? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    let header = withUnsafeTemporaryAllocation(byteCount: headerSize, alignment: 1) { buffer in
      Array(buffer.prefix(fread(buffer.baseAddress, 1, headerSize, file)))
    }
    guard header.count == headerSize, header.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else { return nil }
    return UInt16(header[16]) | UInt16(header[17]) << 8 == fixedAddresses ? 0 : address
  }

  private static func lines(of path: String) -> [Substring] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var text: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
      while case let count = fread(buffer.baseAddress, 1, buffer.count, file), count > 0 {
        text.append(contentsOf: buffer[..<count])
      }
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }
}
