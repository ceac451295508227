// Objects that only shared memory knows whose pages are not in the page table, or may not be written.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 16, as: Unmanaged<Node>.self)
  }
}
@_silgen_name("memfd_create") func createMemoryFile(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32

let readWrite = PROT_READ | PROT_WRITE
@inline(never) func memoryFile(_ bytes: Int, _ flags: UInt32 = 0) -> Int32 {
  let file = createMemoryFile("memory", flags)
  ftruncate(file, bytes)
  return file
}

let forgotten = mmap(nil, 1 << 20, readWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
fill(forgotten + 4096, 100)
madvise(forgotten, 1 << 20, Int32(MADV_DONTNEED))
let paged = mmap(nil, 1 << 20, readWrite, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
fill(paged + 4096, 100)
madvise(paged, 1 << 20, 21)  // MADV_PAGEOUT

let twice = memoryFile(1 << 20)
let first = mmap(nil, 1 << 20, readWrite, MAP_SHARED, twice, 0)!
fill(first + 8192, 100)
munmap(first, 1 << 20)
let second = mmap(nil, (1 << 20) - 4096, readWrite, MAP_SHARED, twice, 4096)!
close(twice)

let sealed = memoryFile(1 << 20, 2)  // MFD_ALLOW_SEALING
let before = mmap(nil, 1 << 20, readWrite, MAP_SHARED, sealed, 0)!
fill(before, 100)
munmap(before, 1 << 20)
_ = fcntl(sealed, 1033, 8)  // F_ADD_SEALS, F_SEAL_WRITE
let after = mmap(nil, 1 << 20, PROT_READ, MAP_SHARED, sealed, 0)!

let viewed = memoryFile(1 << 20)
let writer = mmap(nil, 1 << 20, readWrite, MAP_SHARED, viewed, 0)!
fill(writer, 100)
munmap(writer, 1 << 20)
let view = mmap(nil, 1 << 20, PROT_READ, MAP_PRIVATE, viewed, 0)!

var name = Array("/tmp/undead-shared-XXXXXX".utf8CString)
let disk = mkstemp(&name)
unlink(name)
ftruncate(disk, 1 << 20)
let written = mmap(nil, 1 << 20, readWrite, MAP_SHARED, disk, 0)!
fill(written + 4096, 100)
msync(written, 1 << 20, MS_SYNC)
madvise(written, 1 << 20, Int32(MADV_DONTNEED))

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
let filled = ["/dev/shm", "/dev"].flatMap { [fillFile(in: $0, unlinked: false), fillFile(in: $0, unlinked: true)] }

// 16 GiB of which two pages are in use: reading the rest would fill the memory.
let sparse = memoryFile(1 << 34)
let wide = mmap(nil, 1 << 34, readWrite, MAP_SHARED | MAP_NORESERVE, sparse, 0)!
fill(wide + (1 << 33), 100)
fill(wide + ((1 << 34) - 8192), 100)
madvise(wide, 1 << 34, Int32(MADV_DONTNEED))
print("shared")
