// Records in raw memory that begin like an object: with a class, a number that may be its counts, and an instance that nothing else
// owns, where objects of the class have a reference that is not counted. Nothing says who made a block.
// EXPECT silent
// HEADER ../Support/scan.h
// OPTIONS --stacks none
import Foundation

final class Instance {
  var number = 1
}
final class WithWeak {
  weak var other: Instance?
  weak var second: Instance?
}
final class WithUnowned {
  unowned let other: Instance
  unowned let second: Instance
  init(_ other: Instance) {
    self.other = other
    second = other
  }
}
struct Record {
  var type: AnyClass
  var number: Int
  var first: Instance
  var second: Instance
}
/// Known in each of these ways besides, so that its counts are in different places.
enum Known: CaseIterable { case only, weakly, unowned, both }
nonisolated(unsafe) var weakly: [() -> Instance?] = []
nonisolated(unsafe) var unowned: [() -> Instance] = []
@inline(never) func makeInstance(_ known: Known) -> Instance {
  let instance = Instance()
  if known == .weakly || known == .both { weakly.append { [weak instance] in instance } }
  if known == .unowned || known == .both { unowned.append { [unowned instance] in instance } }
  return instance
}
nonisolated(unsafe) var records: [UnsafeMutablePointer<Record>] = []
for known in Known.allCases {
  for type in [WithWeak.self, WithUnowned.self] as [AnyClass] {
    for number in [3, 5, 7, 1 << 33 | 3] {
      let record = UnsafeMutablePointer<Record>.allocate(capacity: 1)
      record.initialize(to: Record(type: type, number: number, first: makeInstance(known), second: makeInstance(known)))
      records.append(record)
    }
  }
}
// What is no record, so that the types are known.
let objects = (WithWeak(), WithUnowned(records[0].pointee.first))

var falseReports = 0
for copy in [false, true] { falseReports += Int(undead_test_result(copy, false).leaked) }
withExtendedLifetime(objects) {}
print("false reports: \(falseReports)")
