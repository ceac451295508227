// Objects that only memory knows which is not as other memory. Some scans are made in a forked copy.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int, distance: Int = 16) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * distance, as: Unmanaged<Node>.self)
  }
}
let readWrite = PROT_READ | PROT_WRITE
@inline(never) func map(_ bytes: Int, _ flags: Int32 = MAP_PRIVATE) -> UnsafeMutableRawPointer {
  mmap(nil, bytes, readWrite, flags | MAP_ANONYMOUS, -1, 0)!
}
nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []
@inline(never) func alignedBlock() -> UnsafeMutableRawPointer {
  var block: UnsafeMutableRawPointer?
  posix_memalign(&block, 4096, 64 * 4096)
  fill(block!, 1000)
  blocks.append(block!)
  return block!
}

// The program has locked it with a protection key.
// CASE locked-memory
// ARGS locked
@_silgen_name("pkey_alloc") func allocateKey(_ flags: UInt32, _ rights: UInt32) -> Int32
@_silgen_name("pkey_mprotect") func protect(
  _ memory: UnsafeMutableRawPointer, _ bytes: Int, _ rights: Int32, _ key: Int32
) -> Int32
@_silgen_name("pkey_set") func lock(_ key: Int32, _ rights: UInt32) -> Int32
func lockMemory() {
  let memory = map(8192)
  fill(memory, 100)
  // Without such keys in the processor the memory is not locked.
  let key = allocateKey(0, 0)
  if key >= 0 {
    _ = protect(memory, 8192, readWrite, key)
    _ = lock(key, 1)
  }
}

// It is from sbrk: before, between and behind what malloc takes from the same place.
// CASE memory-from-sbrk
// ARGS sbrk
@inline(never) func allocate() {
  for size in 1...2000 { blocks.append(malloc(size)!) }
}
func takeFromSbrk() {
  fill(sbrk(8192)! + 8, 100, distance: 24)
  allocate()
  let large = sbrk(1 << 20)!
  fill(large + 8, 100, distance: 24)
  fill(large + (1 << 19) + 8, 100, distance: 24)
  allocate()
  for index in stride(from: 0, to: blocks.count, by: 2) { free(blocks[index]) }
  fill(sbrk(4096)! + 8, 100, distance: 24)
}

// A forked copy of the program would not have it, blocks of malloc among it, or would share it.
// CASE memory-not-inherited
// ARGS not-inherited
// SHELL UNDEAD_SCAN=fork exec $RUN
func keepFromCopies() {
  for advice in [MADV_DONTFORK, MADV_WIPEONFORK] {
    let memory = map(1 << 20)
    fill(memory + 4096, 500)
    madvise(memory, 1 << 20, Int32(advice))
  }
  fill(map(1 << 20, MAP_SHARED), 500)
  let block = alignedBlock()
  madvise(block, 16 * 4096, Int32(MADV_DONTFORK))
  madvise(block + 16 * 4096, 16 * 4096, Int32(MADV_WIPEONFORK))
}

// The program may not read it at the moment: an arena that it protects, pages in the middle of blocks of malloc.
// CASE unreadable-memory
// ARGS unreadable
func protectMemory() {
  let arena = map(1 << 30, MAP_PRIVATE | MAP_NORESERVE)
  fill(arena + (1 << 20), 200)
  fill(arena + (1 << 29), 200)
  mprotect(arena, 1 << 30, PROT_NONE)
  let shared = map(1 << 20, MAP_SHARED)
  fill(shared + 8192, 100)
  mprotect(shared, 1 << 20, PROT_NONE)
  let writeOnly = map(8192)
  fill(writeOnly, 100)
  mprotect(writeOnly, 8192, PROT_EXEC)
  protectPages()
  let unaligned = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
  blocks.append(unaligned)
  fill(unaligned, 10_000)
  let page = UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: unaligned) + 20_000) & ~4095)!
  mprotect(page, 4096, PROT_NONE)
}
func protectPages() {
  let block = alignedBlock()
  mprotect(block, 4096, PROT_NONE)
  mprotect(block + 8192, 4096, PROT_NONE)
}

// The same, and no copy of the program may ever read it: sealed.
// CASE unreadable-memory-in-a-copy
// ARGS unreadable-in-a-copy
// SHELL UNDEAD_SCAN=fork exec $RUN
@_silgen_name("syscall") func call(_ number: Int, _ first: UnsafeMutableRawPointer, _ second: Int, _ third: Int) -> Int
func sealMemory() {
  for seals in [false, true] {
    let memory = map(1 << 20)
    fill(memory + 8192, 500)
    mprotect(memory, 1 << 20, PROT_NONE)
    let mseal = 462  // since Linux 6.10
    if seals { _ = call(mseal, memory, 1 << 20, 0) }
  }
  protectPages()
  // What is not inherited, and not readable either.
  let lost = map(1 << 20)
  fill(lost + 4096, 500)
  madvise(lost, 1 << 20, Int32(MADV_WIPEONFORK))
  mprotect(lost, 1 << 20, PROT_NONE)
}

// It is shared, and its pages are not in the page table, or may not be written.
// CASE shared-memory
// ARGS shared
@_silgen_name("memfd_create") func createMemoryFile(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32
@inline(never) func memoryFile(_ bytes: Int, _ flags: UInt32 = 0) -> Int32 {
  let file = createMemoryFile("memory", flags)
  ftruncate(file, bytes)
  return file
}

// /dev has devices, too, whose memory is not read. Only root may make files beside them.
@inline(never) func fillFile(in folder: String, unlinked: Bool) -> UnsafeMutableRawPointer? {
  var name = Array("\(folder)/undead-shared-XXXXXX".utf8CString)
  let file = mkstemp(&name)
  if file < 0 { return nil }
  ftruncate(file, 1 << 20)
  let memory = mmap(nil, 1 << 20, readWrite, MAP_SHARED, file, 0)!
  close(file)
  fill(memory + 4096, 100)
  if unlinked { unlink(name) } else { belowDevices.append(name) }
  return memory
}
nonisolated(unsafe) var belowDevices: [[CChar]] = []
atexit { for name in belowDevices { unlink(name) } }
func shareMemory() {
  let forgotten = map(1 << 20, MAP_SHARED)
  fill(forgotten + 4096, 100)
  madvise(forgotten, 1 << 20, Int32(MADV_DONTNEED))
  let paged = map(1 << 20, MAP_SHARED)
  fill(paged + 4096, 100)
  madvise(paged, 1 << 20, 21)  // MADV_PAGEOUT

  let twice = memoryFile(1 << 20)
  let first = mmap(nil, 1 << 20, readWrite, MAP_SHARED, twice, 0)!
  fill(first + 8192, 100)
  munmap(first, 1 << 20)
  _ = mmap(nil, (1 << 20) - 4096, readWrite, MAP_SHARED, twice, 4096)!
  close(twice)

  let sealed = memoryFile(1 << 20, 2)  // MFD_ALLOW_SEALING
  let before = mmap(nil, 1 << 20, readWrite, MAP_SHARED, sealed, 0)!
  fill(before, 100)
  munmap(before, 1 << 20)
  _ = fcntl(sealed, 1033, 8)  // F_ADD_SEALS, F_SEAL_WRITE
  _ = mmap(nil, 1 << 20, PROT_READ, MAP_SHARED, sealed, 0)!

  let viewed = memoryFile(1 << 20)
  let writer = mmap(nil, 1 << 20, readWrite, MAP_SHARED, viewed, 0)!
  fill(writer, 100)
  munmap(writer, 1 << 20)
  _ = mmap(nil, 1 << 20, PROT_READ, MAP_PRIVATE, viewed, 0)!

  var name = Array("/tmp/undead-shared-XXXXXX".utf8CString)
  let disk = mkstemp(&name)
  unlink(name)
  ftruncate(disk, 1 << 20)
  let written = mmap(nil, 1 << 20, readWrite, MAP_SHARED, disk, 0)!
  fill(written + 4096, 100)
  msync(written, 1 << 20, MS_SYNC)
  madvise(written, 1 << 20, Int32(MADV_DONTNEED))

  _ = ["/dev/shm", "/dev"].flatMap { [fillFile(in: $0, unlinked: false), fillFile(in: $0, unlinked: true)] }

  // 16 GiB of which two pages are in use: reading the rest would fill the memory.
  let sparse = memoryFile(1 << 34)
  let wide = mmap(nil, 1 << 34, readWrite, MAP_SHARED | MAP_NORESERVE, sparse, 0)!
  fill(wide + (1 << 33), 100)
  fill(wide + ((1 << 34) - 8192), 100)
  madvise(wide, 1 << 34, Int32(MADV_DONTNEED))
}

switch CommandLine.arguments.last {
case "locked": lockMemory()
case "sbrk": takeFromSbrk()
case "not-inherited": keepFromCopies()
case "unreadable": protectMemory()
case "unreadable-in-a-copy": sealMemory()
default: shareMemory()
}
print("held")
