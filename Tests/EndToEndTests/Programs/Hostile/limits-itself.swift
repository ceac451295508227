// The program limits its address space, or its data, to little more than it needs: it gets all of that, and no more.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=4
// CASE limits-its-addresses
// FLAGS -D ADDRESSES
// CASE limits-its-data
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
@_silgen_name("fork") func makeCopy() -> pid_t

#if ADDRESSES
  let (kind, letter): (Int32, String) = (9, "v")  // RLIMIT_AS
#else
  let (kind, letter): (Int32, String) = (2, "d")  // RLIMIT_DATA
#endif
func run(_ command: String, spawned: Bool) {
  let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
  fflush(stdout)
  var child: pid_t = 0
  if spawned {
    // The child has its limits when posix_spawn returns: it waits for a line until then.
    var line: [Int32] = [0, 0]
    var actions = posix_spawn_file_actions_t()
    pipe(&line)
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, line[0], 0)
    posix_spawn(&child, "/bin/sh", &actions, nil, arguments, environ)
    posix_spawn_file_actions_destroy(&actions)
    write(line[1], "\n", 1)
    close(line[0])
    close(line[1])
  } else {
    child = makeCopy()
    if child == 0 {
      execve("/bin/sh", arguments, environ)
      _exit(1)
    }
  }
  waitpid(child, nil, 0)
  for argument in arguments { free(argument) }
}

for _ in 0..<2 { make() }
var limit = rlimit(rlim_cur: 200 << 20, rlim_max: 220 << 20)
print(setrlimit(kind, &limit))
var seen = rlimit()
print(getrlimit(kind, &seen), seen.rlim_cur >> 20, seen.rlim_max >> 20)
limit.rlim_cur = 100 << 20
limit.rlim_max = 120 << 20
print(setrlimit(kind, &limit), getrlimit(kind, &seen), seen.rlim_cur >> 20, seen.rlim_max >> 20)
limit.rlim_cur = 121 << 20
print(setrlimit(kind, &limit), errno == EINVAL)
let nodes = (0..<400_000).map { _ in Node() }
func map(_ size: Int) -> Bool {
  let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  let failed = memory == MAP_FAILED
  if !failed { munmap(memory, size) }
  return failed
}
print(nodes.count, map(30 << 20), map(110 << 20), errno == ENOMEM)
for _ in 0..<2 { make() }
run("ulimit -\(letter); ulimit -H\(letter)", spawned: false)
run("read line; ulimit -\(letter)", spawned: true)
