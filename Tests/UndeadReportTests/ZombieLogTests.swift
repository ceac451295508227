import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport

/// Reading logs of zombies, which are untrusted input.
@Suite struct ZombieLogTests {
  private static func sample() -> ZombieLogSample {
    var sample = ZombieLogSample()
    sample.modules([ZombieLogSample.app, ZombieLogSample.core])
    sample.add(ZombieLogSample.message())
    sample.add(ZombieLog.Event(kind: 0, object: 0x20, type: "App.Void"))
    sample.record(77) { $0.append(contentsOf: [1, 2, 3]) }
    var field = ZombieLog.Event(kind: 4, object: 0x10, type: "App.Counter<Swift.Int>")
    (field.flags, field.fieldOffset, field.field, field.details) = (1, 24, "value", "more")
    sample.add(field)
    return sample
  }

  private static func error(_ data: Data) -> ZombieLogError? {
    do throws(ZombieLogError) {
      _ = try ZombieLog.decode(data)
      return nil
    } catch {
      return error
    }
  }

  @Test func everyFieldIsRead() throws {
    var sample = Self.sample()
    sample.flags = 2
    sample.lost = 5
    sample.counters = (0..<18).map { UInt64($0 + 100) }
    let log = try #require(try ZombieLog.decode(sample.bytes))
    #expect((log.pid, log.generation, log.flags, log.signal, log.lost) == (40, 1, 2, 4, 5))
    #expect(log.isGuarding)
    #expect(log.counters["kept"] == 100)
    #expect(log.counters["evictedForEnd"] == 106)
    #expect(log.counters["lostReports"] == 116)
    var expected = ZombieLogSample.message()
    expected.modules = 0
    #expect(log.events.count == 2)
    #expect(log.events[0] == expected)
    #expect(log.events[1].field == "value")
    #expect(log.events[1].fieldOffset == 24)
    #expect(log.events[1].details == "more")
    #expect(log.moduleLists == [[ZombieLogSample.app, ZombieLogSample.core]])
  }

  @Test func aLaterListOfModulesIsForLaterZombies() throws {
    var sample = Self.sample()
    sample.modules([ZombieLogSample.core])
    sample.add(ZombieLogSample.message())
    let log = try #require(try ZombieLog.decode(sample.bytes))
    #expect(log.events.map(\.modules) == [0, 0, 1])
    #expect(log.moduleLists.map(\.count) == [2, 1])
  }

  @Test func aFileThatWasNotBegunIsNone() throws {
    #expect(try ZombieLog.decode(Data(count: 4096)) == nil)
    #expect(try ZombieLog.decode(Data()) == nil)
  }

  @Test(
    arguments: [
      (0, [0x58], 0, "does not start"), (8, [9], 8, "version 9"), (12, [8], 12, "header size"),
      (32, [0xff, 0xff, 0xff], 32, "said to be used"), (32, [0x01, 0x01], 32, "said to be used"),
      (256, [3, 0, 0, 0], 256, "a record of 3 bytes"), (256, [0xf8, 0xff, 0xff, 0xff], 256, "a record of 4294967288"),
      (264, [9], 376, "module 3 of 9"), (296, [0xff, 0xff], 296, "65535 bytes of texts"),
    ] as [(Int, [UInt8], Int, String)])
  func errorsNameTheByte(offset: Int, bytes: [UInt8], byte: Int, words: String) throws {
    var data = Self.sample().bytes
    data.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    let error = try #require(Self.error(data))
    #expect(error.detail.contains(words))
    #expect(error.byte == byte)
    #expect(error.description.contains("at byte \(byte)"))
  }

  @Test func framesOutsideOfTheRecordAreAnError() throws {
    for (field, value) in [(72, UInt32.max), (76, 200), (80, 1 << 20), (84, 1 << 30)] as [(Int, UInt32)] {
      var data = Self.sample().bytes
      let modules = data.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 256, as: UInt32.self)) }
      let event = 256 + modules
      withUnsafeBytes(of: value.littleEndian) { data.replaceSubrange((event + field)..<(event + field + 4), with: $0) }
      let error = try #require(Self.error(data))
      #expect(error.byte == event + 72)
    }
  }

  @Test func everyShorterFileIsAnErrorOrNothing() throws {
    let data = Self.sample().bytes
    let used = 256 + Self.sample().records.count
    for length in 1..<used { #expect(Self.error(data.prefix(length)) != nil, "\(length) bytes") }
  }

  /// Whatever bytes are changed, the decoder ends, with a value or an error, and the report can be made.
  @Test func changedBytesNeverCrash() throws {
    var generator = SeededGenerator(seed: 42)
    let original = Self.sample().bytes.prefix(256 + Self.sample().records.count)
    for _ in 0..<Thorough.count(400, of: 4000) {
      var data = original
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let position = Int.random(in: 0..<data.count, using: &generator)
        data[position] = [0, 1, 7, 8, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
      }
      do throws(ZombieLogError) {
        guard let log = try ZombieLog.decode(data) else { continue }
        _ = TextRenderer.render(LeakReport(findings: ZombieFindings([ZombieInput(log, program: "App")])))
      } catch {
        #expect(error.byte <= data.count)
      }
    }
  }
}
