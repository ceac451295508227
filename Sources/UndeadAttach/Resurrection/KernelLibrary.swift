import UndeadSystem

/// The library that the kernel gives to programs (vdso): it reads pages that are not in a core file, and another kernel's
/// are different.
enum KernelLibrary {
  /// System calls of x86-64.
  private static let functions: [(name: String, number: UInt32)] = [
    ("__vdso_clock_gettime", 228), ("__vdso_clock_getres", 229), ("__vdso_gettimeofday", 96), ("__vdso_time", 201),
    ("__vdso_getcpu", 309), ("__vdso_getrandom", 318),
  ]

  /// Makes its functions call the kernel.
  static func replace(
    at address: UInt64, in process: EmptyProcess, _ regions: [ReplicaSource.Region]
  ) throws(AttachError) {
    let index = regions.partitioningIndex { $0.high > address }
    guard index < regions.count, regions[index].low <= address,
      let image = TargetImage(path: "[vdso]", start: address, memory: process.memory)
    else { return }
    for function in functions {
      // mov $number, %eax; syscall; ret
      let code = [0xB8] + withUnsafeBytes(of: function.number.littleEndian, Array.init) + [0x0F, 0x05, 0xC3]
      guard let place = image.address(of: function.name), regions[index].low <= place,
        place < regions[index].high - UInt64(code.count)
      else { continue }
      try process.memory.write(code, at: place)
    }
  }
}
