// Global variables of number types, and numbers in existentials, hold the addresses of what leaked.
// EXPECT leak kind=retainCycle types=App.ByVariable fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByOptional fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByStatic fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByStruct fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByTuple fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByAny fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByKey fields=onEnd count=1
// EXPECT leak kind=retainCycle types=App.ByEntry fields=onEnd count=1
class Session { var onEnd: (() -> Void)? }
final class ByVariable: Session {}
final class ByOptional: Session {}
final class ByStatic: Session {}
final class ByStruct: Session {}
final class ByTuple: Session {}
final class ByAny: Session {}
final class ByKey: Session {}
final class ByEntry: Session {}
struct Event { let id: ObjectIdentifier, size: Int }
protocol Entry {}
struct Record {
  var events = 0
  var latest: ObjectIdentifier?
}
extension Event: Entry {}
enum Statistics { nonisolated(unsafe) static var last: UInt64 = 0 }

nonisolated(unsafe) var latest: UInt = 0
nonisolated(unsafe) var current: ObjectIdentifier?
nonisolated(unsafe) var record = Record()
nonisolated(unsafe) var pair: (word: UInt, name: String) = (0, "")
nonisolated(unsafe) var facts: [String: Any] = [:]
nonisolated(unsafe) var seen = Set<AnyHashable>()
nonisolated(unsafe) var log: [any Entry] = []

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func leak(_ session: Session) {
  session.onEnd = { session.onEnd = nil }
  use(session)
}
func word(of session: Session) -> UInt { UInt(bitPattern: ObjectIdentifier(session)) }

@inline(never) func inVariable() {
  let session = ByVariable()
  leak(session)
  latest = word(of: session)
}
@inline(never) func inOptional() {
  let session = ByOptional()
  leak(session)
  current = ObjectIdentifier(session)
}
@inline(never) func inStatic() {
  let session = ByStatic()
  leak(session)
  Statistics.last = UInt64(word(of: session))
}
@inline(never) func inStruct() {
  let session = ByStruct()
  leak(session)
  record.latest = ObjectIdentifier(session)
}
@inline(never) func inTuple() {
  let session = ByTuple()
  leak(session)
  pair = (word(of: session), "session")
}
@inline(never) func inAny() {
  let session = ByAny()
  leak(session)
  facts["session"] = word(of: session)
}
@inline(never) func inKey() {
  let session = ByKey()
  leak(session)
  seen.insert(ObjectIdentifier(session))
}
@inline(never) func inEntry() {
  let session = ByEntry()
  leak(session)
  log.append(Event(id: ObjectIdentifier(session), size: 1))
}

inVariable()
inOptional()
inStatic()
inStruct()
inTuple()
inAny()
inKey()
inEntry()
print(
  latest != 0, record.latest != nil, pair.name, current != nil, Statistics.last != 0, facts.count, seen.count, log.count
)
