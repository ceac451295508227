import Foundation

/// By kind and form.
nonisolated(unsafe) let programs: [String: [String: () -> Void]] = [
  "leak": leaks, "growth": growths, "retained": retained, "pinned": pinned, "nothing": nothing,
]

nonisolated(unsafe) private let leaks: [String: () -> Void] = [
  "cycles": {
    for number in 0..<100_000 {
      let (a, b) = (Node(text(number)), Node())
      (a.other, b.other) = (b, a)
    }
  },
  "raw": {
    for _ in 0..<20_000 {
      UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 8).storeBytes(of: 1, as: Int.self)
    }
  },
  "closures": {
    for number in 0..<50_000 {
      let node = Node(text(number))
      node.handler = { print(node.name) }
    }
  },
  "parents": {
    for number in 0..<20_000 {
      let parent = Node(text(number))
      for _ in 0..<3 {
        let child = Node()
        child.other = parent
        parent.children.append(child)
      }
    }
  },
  "delegates": {
    for _ in 0..<30_000 {
      let (a, b) = (Owner(), Owner())
      (a.delegate, b.delegate) = (b, a)
    }
  },
  "tables": {
    for number in 0..<20_000 {
      let owner = Owner()
      owner.table[text(number)] = owner
    }
  },
  "unmanaged": { for number in 0..<100_000 { _ = Unmanaged.passRetained(Node(text(number))) } },
  "boxes": {
    for number in 0..<50_000 {
      let box = Box<(AnyObject?, String)>((nil, text(number)))
      box.value.0 = box
    }
  },
  "elements": {
    for _ in 0..<5000 {
      let strings = UnsafeMutablePointer<String>.allocate(capacity: 20)
      for number in 0..<20 { (strings + number).initialize(to: text(number)) }
    }
  },
  "threads": {
    onThreads(8) {
      for number in 0..<10_000 {
        let node = Node(text(number))
        node.other = node
      }
    }
  },
  "few": {
    // Of one alone a stale word of the stack may be left.
    for number in 0..<10 {
      let node = Node(text(number))
      node.other = node
    }
  },
  "buffers": {
    for _ in 0..<2000 {
      let box = Box<(AnyObject?, [UInt8])>((nil, bytes(5000)))
      box.value.0 = box
    }
  },
]

nonisolated(unsafe) private let growths: [String: () -> Void] = [
  "table": { for _ in 0..<20_000 { table[table.count] = bytes(500) } },
  "objects": { for number in 0..<200_000 { objects.append(Session(number)) } },
  "strings": { for number in 0..<100_000 { strings.append(text(number)) } },
  "names": { for _ in 0..<80_000 { names[text(names.count)] = 1 } },
  "set": { for _ in 0..<80_000 { set.insert(text(set.count)) } },
  "data": { for _ in 0..<2000 { data.append(Data(repeating: 7, count: 5000)) } },
  "log": { for _ in 0..<20_000 { log.append(Data(repeating: 7, count: 500)) } },
  "closures": {
    for number in 0..<100_000 {
      let session = Session(number)
      closures.append { session.number }
    }
  },
  "list": { for number in 0..<200_000 { list = Link(number, list) } },
  "values": { for number in 0..<500_000 { values.append((number, number, number)) } },
  "nested": {
    for number in 0..<50_000 {
      nested[text(number % 100), default: [:]][text(nested.count + Int.random(in: 0..<1 << 40))] = 1
    }
  },
  "tree": { objects.append(Tree(depth: 16)) },
]

nonisolated(unsafe) private let retained: [String: () -> Void] = [
  "objects": {
    burst(400_000, share: 0, keep: keepObjects) { Session($0) }
    burst(1000, share: 1, keep: keepObjects) { Session($0) }
  },
  "buffers": {
    burst(10_000, share: 0, keep: drop) { bytes(1000 + $0 % 3000) }
    table[table.count] = bytes(2000)
  },
  "threads": { onThreads(8) { burst(80_000, share: 0, keep: keepObjects) { Session($0) } } },
  "strings": {
    burst(200_000, share: 0, keep: drop, text)
    strings.append(text(1))
  },
  "table": {
    var all: [Int: [UInt8]] = [:]
    for number in 0..<20_000 { all[number] = bytes(700) }
    all = [:]
    table[table.count] = bytes(700)
  },
  "data": {
    burst(5000, share: 0, keep: drop) { Data(repeating: 7, count: 2000 + $0) }
    data.append(Data(repeating: 7, count: 4000))
  },
  "tree": {
    _ = Tree(depth: 17)
    objects.append(Tree(depth: 2))
  },
  "closures": {
    burst(300_000, share: 0, keep: drop) { number in
      let session = Session(number)
      return { session.number }
    }
    objects.append(Session(1))
  },
  "sets": {
    burst(20, share: 0, keep: drop) { _ in Set((0..<20_000).map(text)) }
    set.insert(text(1))
  },
  "tasks": {
    runTasks(5000) { number in
      let buffer = bytes(3000 + number % 500)
      await Task.yield()
      withExtendedLifetime(buffer) {}
    }
  },
  "nodes": {
    func all() -> Node {
      let root = Node()
      root.children = (0..<200_000).map { Node(text($0)) }
      return root
    }
    _ = all()
    objects.append(Node(text(1)))
  },
  "sizes": {
    burst(60_000, share: 0, keep: drop) { bytes(16 + $0 * 7919 % 2000) }
    table[table.count] = bytes(100)
  },
]

nonisolated(unsafe) private let pinned: [String: () -> Void] = [
  "objects": { burst(600_000, share: 50, keep: keepObjects) { Session($0) } },
  "strings": { burst(400_000, share: 35, keep: keepStrings, text) },
  "buffers": {
    burst(20_000, share: 2, keep: keepBuffers) { bytes(1000 + $0 % 1500) }
  },
  "threads": { onThreads(8) { burst(80_000, share: 50, keep: keepObjects) { Session($0) } } },
  "data": {
    burst(60_000, share: 6, keep: keepData) { _ in Data(repeating: 7, count: 300) }
  },
  "closures": {
    burst(400_000, share: 30, keep: keepClosures) { number in
      let session = Session(number)
      return { session.number }
    }
  },
  "nodes": { burst(200_000, share: 15, keep: keepObjects) { Node(text($0)) } },
  "owners": { burst(60_000, share: 9, keep: keepObjects) { _ in Owner() } },
  "boxes": { burst(500_000, share: 60, keep: keepObjects) { Box($0) } },
  "two": {
    burst(600_000, share: 50, keep: keepObjects) { number -> AnyObject in
      number % 100 == 0 ? Box(number) : Session(number)
    }
  },
  "names": {
    burst(300_000, share: 33, keep: keepNames, text)
  },
  "twice": {
    for _ in 0..<2 { burst(400_000, share: 50, keep: keepObjects) { Session($0) } }
  },
]

nonisolated(unsafe) private let nothing: [String: () -> Void] = [
  "table": { for _ in 0..<20_000 { table[table.count] = bytes(500) } },
  // What has a mapping of its own goes back at once.
  "large": { _ = (0..<20).map { [UInt8](repeating: UInt8($0), count: 10_000_000) } },
  "idle": {},
  "array": { values = ContiguousArray(repeating: (1, 2, 3), count: 1_000_000) },
  "mapped": {
    let memory = mmap(nil, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    memset(memory, 1, 64 << 20)
    mapped.append(memory)
  },
  "file": {
    let file = open(CommandLine.arguments[0], O_RDONLY)
    let size = Int(lseek(file, 0, SEEK_END))
    let memory = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0)!
    var sum = 0
    for page in stride(from: 0, to: size, by: 4096) { sum += Int(memory.load(fromByteOffset: page, as: UInt8.self)) }
    mapped.append(memory)
    if sum == 0 { print("empty") }
  },
  "threads": { onThreads(20) {} },
  "strings": { strings = (0..<100_000).map(text) },
  "data": { data = (0..<100).map { _ in Data(repeating: 7, count: 400_000) } },
  "small": { burst(2000, share: 3, keep: keepObjects) { Session($0) } },
  "cache": {
    for number in 0..<50_000 { table[number % 1000] = bytes(2000) }
  },
  "tree": { objects.append(Tree(depth: 17)) },
]
