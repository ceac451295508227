import UndeadSystem

extension ReplicaSource {
  /// The memory of a core file, with the binaries of this machine.
  package init(core: CoreFile, search: BinarySearch = BinarySearch()) throws(AttachError) {
    do throws(AttachError) {
      try self.init(checked: core, search)
    } catch {
      throw AttachError(error.kind, "cannot use the core file '\(core.path)': \(error)")
    }
  }

  private init(checked core: CoreFile, _ search: BinarySearch) throws(AttachError) {
    let layout = try CoreLayout(core, search)
    let main = core.mainThread
    regions = layout.regions
    threads = ([main] + core.notes.threads.filter { $0.id != main.id }).map {
      ReplicaThread(
        tid: $0.id, isFirst: $0.id == main.id, isInSystemCall: $0.isInSystemCall,
        registers: Registers($0.registers), extendedState: $0.extendedState)
    }
    maps = MemoryMap(text: layout.maps.text)
    pid = core.notes.processID
    executable = core.executable
    arguments = core.notes.arguments
    files = layout.places(first: core.executable)
    vdso = core.notes.auxiliary[CoreNotes.Auxiliary.vdso]
    notes = layout.notes
    var status = stat()
    _ = fstat(core.input.descriptor, &status)
    taken = UInt64(max(status.st_mtim.tv_sec, 0)) &* 1_000_000_000 &+ UInt64(max(status.st_mtim.tv_nsec, 0))
  }
}
