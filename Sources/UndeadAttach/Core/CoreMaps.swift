import Glibc

/// The memory map of a program, as /proc/PID/maps has it, made of what a core file shows.
struct CoreMaps {
  private struct Line {
    var low: UInt64
    var high: UInt64
    var protection: Int32
    var isShared = false
    var offset: UInt64 = 0
    var inode = 0
    var path = ""
  }

  private var lines: [Line] = []
  private var inodes: [String: Int] = [:]

  mutating func add(_ segment: CoreSegment, _ file: CoreMappedFile?) {
    let protection =
      (segment.isReadable ? PROT_READ : 0) | (segment.isWritable ? PROT_WRITE : 0)
      | (segment.isExecutable ? PROT_EXEC : 0)
    add(segment.address, segment.end, protection, file)
  }

  mutating func add(_ low: UInt64, _ high: UInt64, _ protection: Int32, _ file: CoreMappedFile?) {
    var line = Line(low: low, high: high, protection: protection)
    if let file {
      line.path = file.path
      line.offset = file.offset + (low - file.low)
      line.inode = inodes[file.path] ?? inodes.count + 1
      inodes[file.path] = line.inode
    }
    lines.append(line)
  }

  /// Names what has no file: heap, stack and the kernel's library.
  mutating func label(_ core: CoreFile) {
    let vdso = core.notes.auxiliary[CoreNotes.Auxiliary.vdso]
    let stack = core.notes.auxiliary[CoreNotes.Auxiliary.random] ?? core.mainThread.stackPointer
    let program = core.executable
    let end = lines.last { $0.path == program }?.high
    var hasHeap = false
    for index in lines.indices where lines[index].path.isEmpty {
      let line = lines[index]
      if let vdso, line.low <= vdso, vdso < line.high {
        lines[index].path = "[vdso]"
      } else if line.low <= stack, stack < line.high {
        lines[index].path = "[stack]"
      } else if let end, !hasHeap, line.low > end, line.protection == PROT_READ | PROT_WRITE {
        // The kernel puts it behind the program; the loader and libraries are far away.
        hasHeap = true
        if line.low - end < 1 << 36 { lines[index].path = "[heap]" }
      }
    }
  }

  var text: [UInt8] {
    var text = ""
    for line in lines {
      let access =
        (line.protection & PROT_READ != 0 ? "r" : "-") + (line.protection & PROT_WRITE != 0 ? "w" : "-")
        + (line.protection & PROT_EXEC != 0 ? "x" : "-") + (line.isShared ? "s" : "p")
      let range = "\(String(line.low, radix: 16))-\(String(line.high, radix: 16))"
      let device = line.inode == 0 ? "00:00" : "00:01"
      let path = line.path.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\012")
      text += "\(range) \(access) \(Self.padded(line.offset)) \(device) \(line.inode)"
      text += path.isEmpty ? "\n" : " \(path)\n"
    }
    return [UInt8](text.utf8)
  }

  private static func padded(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }
}
