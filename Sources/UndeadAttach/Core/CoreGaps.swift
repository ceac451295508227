/// Memory that is neither in the core file nor anywhere else.
enum CoreGaps {
  static func check(_ core: CoreFile) throws(AttachError) {
    try checkEnd(core)
    try checkKinds(core)
  }

  /// The file may have been cut off.
  private static func checkEnd(_ core: CoreFile) throws(AttachError) {
    var missing: UInt64 = 0
    var first: UInt64?
    for segment in core.segments where segment.present < segment.dumped {
      var at = segment.address + segment.present
      let end = segment.address + segment.dumped
      while at < end {
        let file = core.notes.file(at: at)
        let next = min(file?.high ?? at + CoreFile.page, end)
        // What cannot be written is what the file has.
        if segment.isWritable || file == nil {
          missing += next - at
          first = first ?? at
        }
        at = next
      }
    }
    guard let first else { return }
    throw .misuse(
      "it was cut off at byte \(core.fileSize): \(missing) bytes of the program's memory are missing, from address "
        + "\(hex(first)) on; let the program write a whole one (ulimit -c unlimited; ProcessSizeMax= and "
        + "ExternalSizeMax= in coredump.conf; room on the disk)")
  }

  /// The program may be set not to dump its own memory.
  private static func checkKinds(_ core: CoreFile) throws(AttachError) {
    for thread in core.notes.threads where thread.fsBase != 0 && thread.fsBase < CoreFile.userEnd {
      guard core.memory(at: thread.fsBase, count: 8).count == 8 else {
        throw .misuse(
          "the memory of thread \(thread.id) at \(hex(thread.fsBase)) was not dumped; bit 0 of "
            + "/proc/PID/coredump_filter must be set when the program ends")
      }
    }
  }
}
