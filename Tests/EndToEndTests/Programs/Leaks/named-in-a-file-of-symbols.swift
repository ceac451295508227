// The file of a library, where names of symbols are looked for, holds the address of a leaked object: it is no reference.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1 at=node
import Glibc

final class Node { var next: Node? }

// A small library that is loaded anyhow.
func findLibrary() -> String? {
  guard let maps = fopen("/proc/self/maps", "r") else { return nil }
  defer { fclose(maps) }
  var line = [CChar](repeating: 0, count: 4096)
  while fgets(&line, 4096, maps) != nil {
    let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    if text.hasSuffix("/libswiftGlibc.so"), let slash = text.firstIndex(of: "/") { return String(text[slash...]) }
  }
  return nil
}

@inline(never) func copyLibrary(to path: String) {
  guard let library = findLibrary(), let source = fopen(library, "r") else { exit(1) }
  guard let copy = fopen(path, "w") else { exit(1) }
  var byte = fgetc(source)
  while byte != EOF {
    fputc(byte, copy)
    byte = fgetc(source)
  }
  fclose(source)
  // The scan would look at words.
  while ftell(copy) % 8 != 0 { fputc(0, copy) }
  fclose(copy)
}

@inline(never) func leak(into path: String) {
  let node = Node()  // @node
  node.next = node
  var address = UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
  let file = open(path, O_WRONLY | O_APPEND)
  guard write(file, &address, MemoryLayout.size(ofValue: address)) == 8 else { exit(1) }
  close(file)
}

// It must be there for the check.
let path = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/undead-named-\(getpid()).so"
copyLibrary(to: path)
guard dlopen(path, RTLD_NOW) != nil else { exit(1) }
leak(into: path)
