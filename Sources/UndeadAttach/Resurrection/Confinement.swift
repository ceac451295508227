import UndeadSystem

/// What a process may ask of the system that was made of a file nobody vouches for: the program's code and tables come from
/// that file. It may read files and make memory and threads; it reaches no other process, no network, and changes no file.
enum Confinement {
  /// System calls of x86-64 that it gets no answer to.
  private static let refused: [UInt32] =
    [59, 322]  // other programs
    + [41, 42, 43, 44, 46, 49, 50, 53, 288, 307]  // sockets
    + [62, 101, 129, 200, 297, 311, 424, 434, 438, 440, 448]  // other processes
    + [76, 82, 83, 84, 85, 86, 87, 88, 90, 91, 92, 93, 94, 132, 133, 235, 437]  // names and attributes of files
    + [258, 259, 260, 261, 263, 264, 265, 266, 268, 280, 304, 316, 452]  // the same, at a directory
    + [188, 189, 190, 197, 198, 199]  // extended attributes
    + [155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432, 433, 442]  // file systems and namespaces
    + [16, 29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 240, 241, 242, 243, 244, 245]  // devices, memory of others, queues
    + [105, 106, 109, 112, 113, 114, 116, 117, 119, 122, 123, 126, 141]  // users, rights, priorities
    + [159, 163, 164, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 227, 246, 248, 249, 250]  // the machine
    + [298, 300, 301, 305, 313, 320, 321, 323, 425, 426, 427]  // the kernel

  /// Numbers of <linux/filter.h>, <linux/seccomp.h>, <linux/audit.h>.
  private enum Code {
    static let load: UInt16 = 0x20
    static let equal: UInt16 = 0x15
    static let notLess: UInt16 = 0x35
    static let anyBit: UInt16 = 0x45
    static let answer: UInt16 = 0x06
    static let allow: UInt32 = 0x7FFF_0000
    static let error: UInt32 = 0x0005_0000
    static let end: UInt32 = 0x8000_0000
    static let machine: UInt32 = 0xC000_003E
    static let otherNumbers: UInt32 = 0x4000_0000
  }

  private enum Call {
    static let open: UInt32 = 2
    static let openAt: UInt32 = 257
    static let clone: UInt32 = 56
    static let clone3: UInt32 = 435
  }

  private static let writing = UInt32(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
  /// New namespaces of any kind.
  private static let namespaces: UInt32 = 0x7E02_0000

  private struct Step {
    var code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var value: UInt32
  }

  private static func argument(_ number: UInt32) -> Step { Step(code: Code.load, value: 16 + 8 * number) }

  /// The filter, as the kernel reads it.
  static var program: [UInt8] {
    // Behind the numbers: what is looked at more closely, 2 + 3 * 3 steps, and the answers.
    let numbers = refused.enumerated().map { index, number in
      Step(code: Code.equal, ifTrue: UInt8(refused.count - index - 1 + 15), value: number)
    }
    let steps =
      [
        Step(code: Code.load, value: 4), Step(code: Code.equal, ifTrue: 1, value: Code.machine),
        Step(code: Code.answer, value: Code.end), Step(code: Code.load, value: 0),
        Step(code: Code.notLess, ifTrue: UInt8(refused.count + 15), value: Code.otherNumbers),
      ] + numbers + [
        // The kernel cannot look at what clone3 is asked for; without it clone is used.
        Step(code: Code.equal, ifFalse: 1, value: Call.clone3),
        Step(code: Code.answer, value: Code.error | UInt32(ENOSYS)),
        Step(code: Code.equal, ifFalse: 3, value: Call.open), argument(1),
        Step(code: Code.anyBit, ifTrue: 10, value: writing), Step(code: Code.answer, value: Code.allow),
        Step(code: Code.equal, ifFalse: 3, value: Call.openAt), argument(2),
        Step(code: Code.anyBit, ifTrue: 6, value: writing), Step(code: Code.answer, value: Code.allow),
        Step(code: Code.equal, ifFalse: 3, value: Call.clone), argument(0),
        Step(code: Code.anyBit, ifTrue: 2, value: namespaces), Step(code: Code.answer, value: Code.allow),
        Step(code: Code.answer, value: Code.allow), Step(code: Code.answer, value: Code.error | UInt32(EPERM)),
      ]
    var bytes: [UInt8] = []
    for step in steps {
      bytes.append(number: step.code)
      bytes += [step.ifTrue, step.ifFalse]
      bytes.append(number: step.value)
    }
    return bytes
  }

  /// Puts a process under it for good.
  static func confine(_ process: EmptyProcess) throws(AttachError) {
    let program = program
    let room = try process.map(
      0, 2 * EmptyProgram.pageSize, PROT_READ | PROT_WRITE, UInt64(MAP_PRIVATE | MAP_ANONYMOUS), .max, 0)
    guard room > 0 else { throw .failure("there is no room in an empty process: \(SystemError.text(Int32(-room)))") }
    let address = UInt64(room)
    var head: [UInt8] = []
    head.append(number: UInt64(program.count / 8))
    head.append(number: address + 16)
    try process.memory.write(head + program, at: address)
    // PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
    let result = [
      try process.thread.systemCall(SystemCall.prctl, 38, 1, 0, 0, 0, at: process.instruction),
      try process.thread.systemCall(SystemCall.prctl, 22, 2, address, 0, 0, at: process.instruction),
    ].first { $0 != 0 }
    if let result {
      throw .failure(
        "the process that is made of the file cannot be confined (seccomp): \(SystemError.text(Int32(-result)))")
    }
    _ = try process.thread.systemCall(SystemCall.munmap, address, 2 * EmptyProgram.pageSize, at: process.instruction)
  }
}
