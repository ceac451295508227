import Foundation

@testable import UndeadReport

/// Writes zombie logs as their document describes them, independently of the instrument that writes real ones.
struct ZombieLogSample {
  var version: UInt32 = 1
  var pid: UInt32 = 40
  var flags: UInt32 = 1
  var lost: UInt64 = 0
  var counters: [UInt64] = Array(repeating: 0, count: 18)
  var records = Data()

  mutating func modules(_ modules: [Snapshot.Module]) {
    var body = Data()
    for module in modules {
      let texts = Self.texts([module.path, module.buildID])
      for word in [module.low, module.high, module.bias] { body.append(word) }
      body.append(UInt32(texts.count))
      body.append(UInt32(0))
      body.append(texts)
      body.pad()
    }
    record(2) { data in
      data.append(UInt32(modules.count))
      data.append(UInt32(0))
      data.append(body)
    }
  }

  mutating func add(_ event: ZombieLog.Event) {
    let texts = Self.texts([event.type, event.field, event.threadName, event.deathThreadName, event.details])
    record(1) { data in
      for word in [event.kind, event.flags, event.accessor, event.fieldOffset ?? .max] { data.append(word) }
      for word in [
        event.object, event.implementation, event.accessTime, event.deathTime, event.count,
      ] { data.append(word) }
      data.append(UInt32(bitPattern: event.thread))
      data.append(UInt32(bitPattern: event.deathThread))
      for frames in [event.allocation, event.deallocation, event.access] { data.append(UInt32(frames.count)) }
      data.append(UInt32(texts.count))
      for frame in event.allocation + event.deallocation + event.access { data.append(frame) }
      data.append(texts)
    }
  }

  mutating func record(_ type: UInt32, _ fill: (inout Data) -> Void) {
    var body = Data()
    fill(&body)
    body.pad()
    records.append(UInt32(body.count + 8))
    records.append(type)
    records.append(body)
  }

  /// The file, with room that is not used behind the records.
  var bytes: Data {
    var data = Data("UNDEADZO".utf8)
    for word in [version, 256, pid, 1, flags, 4] { data.append(word) }
    data.append(UInt64(256 + records.count))
    data.append(UInt64(1_700_000_000_000_000_000))
    data.append(lost)
    for counter in counters { data.append(counter) }
    data.append(Data(count: 256 - data.count))
    data.append(records)
    data.append(Data(count: 4096))
    return data
  }

  private static func texts(_ texts: [String]) -> Data {
    texts.reduce(into: Data()) { $0.append(contentsOf: Array($1.utf8) + [0]) }
  }
}

extension Data {
  fileprivate mutating func append(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func pad() { append(Data(count: (8 - count % 8) % 8)) }
}

extension ZombieLogSample {
  static let app = Snapshot.Module(low: 0x1000, high: 0x9000, bias: 0, path: "/app/App", buildID: "ab12")
  static let core = Snapshot.Module(low: 0x10000, high: 0x20000, bias: 0x10000, path: "/swift/libswiftCore.so")

  /// A message to a freed object, as the log of a trap has it.
  static func message() -> ZombieLog.Event {
    var event = ZombieLog.Event(kind: 1, object: 0x7f00_1230, type: "App.Poller")
    event.implementation = 0x1400
    event.deathTime = 1_700_000_000_000_000_000
    event.accessTime = event.deathTime + 12_400_000
    (event.thread, event.deathThread) = (40, 47)
    (event.threadName, event.deathThreadName) = ("App", "worker")
    event.allocation = [0x10101, 0x1201, 0x1101, 0x1001]
    event.deallocation = [0x10201, 0x1301, 0x10301, 0x1501, 0x1101]
    event.access = [0x1601, 0x1001]
    return event
  }

  /// A log of the given events of one program, with names for their addresses.
  static func input(_ events: [ZombieLog.Event], _ change: (inout ZombieLogSample) -> Void = { _ in }) -> ZombieInput {
    var sample = ZombieLogSample()
    sample.modules([app, core])
    for event in events { sample.add(event) }
    change(&sample)
    let log = try? ZombieLog.decode(sample.bytes)
    return ZombieInput(log.flatMap { $0 } ?? ZombieLog(pid: 0), symbols: [symbols], program: "App")
  }

  private static let symbols = SymbolTable([
    0x1000: [frame("main", 30)], 0x1100: [frame("App.run()", 21)], 0x1200: [frame("App.makePoller()", 12)],
    0x1300: [frame("App.Poller.deinit", 4)], 0x1400: [frame("App.Poller.tick()", 5)],
    0x1500: [frame("App.Owner.close()", 17)], 0x1600: [frame("App.Loop.poll(_:)", 25)],
    0x1700: [frame("App.Model.level.getter", 8)],
    0x10100: [Frame(symbol: "swift_allocObject", module: "libswiftCore.so", offset: 0x100, system: true)],
    0x10200: [Frame(symbol: "swift_deallocClassInstance", module: "libswiftCore.so", offset: 0x200, system: true)],
    0x10300: [Frame(symbol: "_swift_release_dealloc", module: "libswiftCore.so", offset: 0x300, system: true)],
  ])

  private static func frame(_ symbol: String, _ line: Int) -> Frame {
    Frame(symbol: symbol, file: "/app/App.swift", line: line, module: "App", offset: 0x10)
  }
}

extension LeakReport {
  /// The report on a process in which nothing but uses of dead objects was seen.
  init(findings: ZombieFindings, _ options: ReportOptions = ReportOptions()) {
    var snapshot = Snapshot()
    snapshot.zombies = findings
    self.init(analyzing: [ReportInput(snapshot)], options: options)
  }
}
