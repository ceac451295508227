// A server starts a worker in a sandbox, as sshd does: the worker cannot be checked, and the report says so.
// EXPECT unchecked
import Glibc

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
@_silgen_name("prctl") func control(_ option: Int32, _ first: UInt, _ second: UInt, _ third: UInt, _ last: UInt)
  -> Int32
@_silgen_name("syscall") func systemCall(_ number: Int, _ first: UInt, _ second: UInt, _ third: UInt) -> Int
struct Instruction {
  var code: UInt16
  var ifTrue: UInt8 = 0
  var ifFalse: UInt8 = 0
  var value: UInt32
}
struct Filter {
  var length: UInt16
  var instructions: UnsafeMutablePointer<Instruction>
}
/// Answers `listed` for these system calls, and `others` for all others.
func filter(_ calls: [UInt32], listed: UInt32, others: UInt32) -> UnsafeMutablePointer<Filter> {
  var code = [Instruction(code: 0x20, value: 0)]
  for call in calls {
    code += [Instruction(code: 0x15, ifTrue: 0, ifFalse: 1, value: call), Instruction(code: 0x06, value: listed)]
  }
  code.append(Instruction(code: 0x06, value: others))
  let memory = UnsafeMutablePointer<Instruction>.allocate(capacity: code.count)
  memory.initialize(from: code, count: code.count)
  let filter = UnsafeMutablePointer<Filter>.allocate(capacity: 1)
  filter.initialize(to: Filter(length: UInt16(code.count), instructions: memory))
  return filter
}
let (killProcess, trap, fail, allow): (UInt32, UInt32, UInt32, UInt32) = (0x8000_0000, 0x3_0000, 0x5_0001, 0x7fff_0000)
/// What a program needs that only computes and writes: read, write, close, fstat, mmap, mprotect, munmap, brk,
/// rt_sigreturn, madvise, exit, futex, exit_group.
let least: [UInt32] = [0, 1, 3, 5, 9, 10, 11, 12, 15, 28, 60, 202, 231]

@_silgen_name("fork") func makeCopy() -> pid_t
print("begin")
fflush(stdout)
let worker = makeCopy()
if worker == 0 {
  _ = control(38, 1, 0, 0, 0)
  _ = control(22, 2, UInt(bitPattern: filter(least, listed: allow, others: killProcess)), 0, 0)
  for _ in 0..<3 { make() }
  exit(7)
}
var status: Int32 = 0
waitpid(worker, &status, 0)
print(status >> 8)
for _ in 0..<2 { make() }
