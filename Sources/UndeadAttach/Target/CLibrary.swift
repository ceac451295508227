import UndeadSystem

/// The C library of another process, which need not be ours: what is called and patched there.
package struct CLibrary {
  package let image: TargetImage
  /// `syscall; ret`.
  package let systemCall: UInt64
  /// Code that returns from a signal handler: `mov $15, %rax; syscall`.
  package let signalReturn: UInt64
  /// `_exit`.
  package let exit: UInt64
  /// The code of malloc, free and what only they call; nil if it does not stand together.
  package let allocator: Range<UInt64>?

  /// Finds it among the mapped files.
  package init(in maps: MemoryMap, memory: TargetMemory, process: String) throws(AttachError) {
    let starts = maps.imageStarts
    // The usual name first: a look at every library of a large program takes longer.
    let ordered =
      starts.filter { Self.name($0.path).hasPrefix("libc") } + starts.filter { !Self.name($0.path).hasPrefix("libc") }
    for (path, start) in ordered {
      guard let image = TargetImage(path: path, start: start, memory: memory), image.soname == "libc.so.6" else {
        continue
      }
      guard let systemCall = image.find([0x0F, 0x05, 0xC3]),
        let signalReturn = image.find([0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05]),
        let exit = image.address(of: "_exit")
      else { throw .misuse("the C library of \(process) ('\(path)') is built in a way that undead does not know") }
      guard image.address(of: "dlopen") != nil else {
        throw .misuse(
          "the C library of \(process) ('\(path)') is older than glibc 2.34, which is the oldest one that undead can look at"
        )
      }
      self.image = image
      self.systemCall = systemCall
      self.signalReturn = signalReturn
      self.exit = exit
      allocator = Self.allocator(of: image)
      return
    }
    if let musl = starts.first(where: { Self.name($0.path).hasPrefix("ld-musl") || $0.path.contains("/musl") }) {
      throw .misuse("\(process) uses the C library musl ('\(musl.path)'), not glibc, whose memory undead does not know")
    }
    throw .misuse(
      "\(process) has no glibc in memory: it is a static executable, or no program of Linux's usual kind; "
        + "link it dynamically ('-static-stdlib' alone is fine) to have it looked at")
  }

  private static let allocatorFunctions = [
    "malloc", "free", "calloc", "realloc", "memalign", "posix_memalign", "malloc_usable_size", "malloc_trim",
    "mallinfo",
    "malloc_stats", "malloc_info", "mallopt",
  ]

  /// All functions of malloc.c stand together, those that are not exported mostly before the others.
  private static func allocator(of image: TargetImage) -> Range<UInt64>? {
    let places = allocatorFunctions.compactMap { image.address(of: $0) }
    guard let first = places.min(), let last = places.max(), last - first < 64 << 10, first > 16 << 10 else {
      return nil
    }
    return (first - (16 << 10))..<(last + (1 << 10))
  }

  private static func name(_ path: String) -> Substring {
    path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
  }
}
