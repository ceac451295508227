// The program is started in a sandbox that allows all but tracing.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
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

if CommandLine.argc == 1 {
  _ = control(38, 1, 0, 0, 0)
  print(control(22, 2, UInt(bitPattern: filter([101], listed: killProcess, others: allow)), 0, 0))
  fflush(stdout)
  let path = CommandLine.unsafeArgv[0]
  execv("/proc/self/exe", [path, strdup("again"), nil])
}
for _ in 0..<2 { make() }
print("again")
