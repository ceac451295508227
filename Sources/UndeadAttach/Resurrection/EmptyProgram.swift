import CUndeadTrace
import UndeadSystem

/// A program of one page: it waits. Its tracer makes system calls with it, and puts other memory around it.
enum EmptyProgram {
  static let pageSize: UInt64 = 4096
  /// Of its one system call instruction, and the trap behind it.
  static let callOffset: UInt64 = 0x100
  private static let codeOffset: UInt64 = 0x80

  /// The file of a program that lies at `address`.
  static func file(at address: UInt64) -> [UInt8] {
    var file = [UInt8](repeating: 0, count: Int(pageSize))
    func put(_ number: some FixedWidthInteger, _ offset: Int) {
      withUnsafeBytes(of: number.littleEndian) { file.replaceSubrange(offset..<offset + $0.count, with: $0) }
    }
    // ELF header: 64 bits, little endian, executable, x86-64; one program header.
    file.replaceSubrange(0..<7, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1])
    put(UInt16(2), 16)
    put(ELFHeader.Machine.x86, 18)
    put(UInt32(1), 20)
    put(address + codeOffset, 24)
    put(UInt64(64), 32)
    put(UInt16(64), 52)
    put(UInt16(56), 54)
    put(UInt16(1), 56)
    // PT_LOAD, readable and executable.
    put(UInt32(1), 64)
    put(UInt32(5), 68)
    put(address, 80)
    put(pageSize, 96)
    put(pageSize, 104)
    put(pageSize, 112)
    file.replaceSubrange(Int(codeOffset)..<Int(codeOffset) + code.count, with: code)
    file.replaceSubrange(Int(callOffset)..<Int(callOffset) + 3, with: [0x0F, 0x05, 0xCC])
    return file
  }

  /// prctl(PR_SET_PDEATHSIG, SIGKILL), then pause() without end.
  private static let code: [UInt8] = [
    0xBF, 1, 0, 0, 0,  // mov $1, %edi
    0xBE, 9, 0, 0, 0,  // mov $9, %esi
    0xB8, 157, 0, 0, 0,  // mov $157, %eax
    0x0F, 0x05,  // syscall
    0xB8, 34, 0, 0, 0,  // mov $34, %eax
    0x0F, 0x05,  // syscall
    0xEB, 0xF7,  // jmp to the second mov
  ]

  /// Starts it.
  ///
  /// - Parameter files: descriptors that it is to have under the same numbers.
  static func start(at address: UInt64, files: [Int32]) throws(AttachError) -> pid_t {
    let descriptor = undead_trace_memory_file("undead-replica")
    guard descriptor >= 0 else {
      throw .failure("cannot make a file in memory for an empty process: \(SystemError.text(-descriptor))")
    }
    defer { close(descriptor) }
    let content = file(at: address)
    guard write(descriptor, content, content.count) == content.count else {
      throw .failure("cannot write the program of an empty process: \(SystemError.text(errno))")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // To itself: then the new program gets it.
    for file in files { posix_spawn_file_actions_adddup2(&actions, file, file) }
    var pid = pid_t()
    let name = strdup("undead-replica")
    defer { free(name) }
    let code = posix_spawn(&pid, "/proc/self/fd/\(descriptor)", &actions, nil, [name, nil], [nil])
    guard code == 0 else { throw .failure("cannot start an empty process: \(SystemError.text(code))") }
    return pid
  }
}
