// References that no scan can see, kept in other bits than those of an address: what they hold looks leaked until the program frees it,
// uses it, or stores it in the open. With the path of a directory it notes each step there and waits for the next one, else it waits
// for so many seconds (scripts/check/refute).
// EXPECT leak kind=unreferenced types=App.Hidden count=2
import Foundation

final class Hidden {
  var value = 1
}
final class Mutual {
  var other: Mutual?
}
let key: UInt = 0x5A5A_5A5A_5A5A_5A5A

@inline(never) func hide() -> UInt {
  UInt(bitPattern: Unmanaged.passRetained(Hidden()).toOpaque()) ^ key
}
@inline(never) func hideMemory() -> UInt {
  UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 16)) ^ key
}
@inline(never) func open(_ hidden: UInt) -> Unmanaged<Hidden> {
  Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: hidden ^ key)!)
}
/// A cycle that a weak reference of the program leads to: what comes back that way is no defect of a check.
@inline(never) func makeCycle() -> () -> Mutual? {
  let (first, second) = (Mutual(), Mutual())
  (first.other, second.other) = (second, first)
  return { [weak first] in first }
}
@inline(never) func make() -> (objects: [UInt], memory: UInt, cycle: () -> Mutual?) {
  ((0..<5).map { _ in hide() }, hideMemory(), makeCycle())
}
@inline(never) func use(_ made: (objects: [UInt], memory: UInt, cycle: () -> Mutual?)) {
  open(made.objects[0]).release()
  UnsafeMutableRawPointer(bitPattern: made.memory ^ key)!.deallocate()
  made.cycle()?.other = nil
  stored.append(open(made.objects[1]).takeUnretainedValue())
  _ = open(made.objects[2]).retain()
  // No reference: it proves nothing.
  number = made.objects[4] ^ key
}

nonisolated(unsafe) var stored: [Hidden] = []
nonisolated(unsafe) var number: UInt = 0
let argument = CommandLine.arguments.dropFirst().first ?? "0.6"
func wait(after step: String, for next: String) {
  if let pause = Double(argument) { return Thread.sleep(forTimeInterval: pause) }
  FileManager.default.createFile(atPath: argument + "/" + step, contents: nil)
  while access(argument + "/" + next, F_OK) != 0 { usleep(5000) }
}
let made = make()
wait(after: "hidden", for: "use")
use(made)
wait(after: "used", for: "stop")
print(stored.count, "of", made.objects.count)
