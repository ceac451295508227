import Testing

@testable import UndeadAttach

/// Filters of system calls are understood, or not trusted.
@Suite struct SystemCallFilterTests {
  private typealias Instruction = SystemCallFilter.Instruction
  private let call = SystemCallFilter.Call(number: 56, arguments: [0x1_0000_0011, 2], instruction: 3)
  private static let allow: UInt32 = 0x7FFF_0000

  private func step(_ code: UInt16, _ constant: UInt32 = 0, _ jumpTrue: UInt8 = 0, _ jumpFalse: UInt8 = 0)
    -> Instruction
  {
    Instruction(code: code, jumpTrue: jumpTrue, jumpFalse: jumpFalse, constant: constant)
  }

  @Test func numbersAndArgumentsDecide() {
    // Number 56 passes if the low half of its first argument has bit 4.
    let program = [
      step(0x20, 0), step(0x15, 56, 0, 3), step(0x20, 16), step(0x45, 0x10, 0, 1), step(0x06, Self.allow),
      step(0x06, 0),
    ]
    #expect(SystemCallFilter.run(program, call) == Self.allow)
    let other = SystemCallFilter.Call(number: 56, arguments: [0x1_0000_0001], instruction: 3)
    #expect(SystemCallFilter.run(program, other) == 0)
    #expect(SystemCallFilter.run(program, .init(number: 57, arguments: [], instruction: 3)) == 0)
  }

  @Test func calculationsAndMemory() {
    // (argument 1, high half) + 5, kept, taken back, compared with x.
    let program = [
      step(0x20, 20), step(0x04, 5), step(0x02, 3), step(0x00, 9), step(0x61, 3), step(0x1D, 0, 0, 1), step(0x06, 1),
      step(0x87), step(0x16),
    ]
    #expect(SystemCallFilter.run(program, call) == 6)
  }

  @Test func whatIsNotUnderstoodAllowsNothing() {
    for program in [
      [], [step(0x20, 64)], [step(0x20, 2)], [step(0x28, 0), step(0x06, Self.allow)], [step(0x60, 16)],
      [step(0x05, 1000), step(0x06, Self.allow)], [step(0x34, 0), step(0x06, Self.allow)], [step(0x64, 40)],
    ] {
      #expect(SystemCallFilter.run(program, call) == nil)
    }
  }
}
