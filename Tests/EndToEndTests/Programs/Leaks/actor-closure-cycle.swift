// An actor that stores an isolated closure of its own, and a default actor subclassing nothing with a task that ended.
// EXPECT leak kind=retainCycle types=App.Counter fields=report count=6 at=counter closure=connect closureAt=closure
// FLAGS -parse-as-library
actor Counter {
  var value = 0
  var report: (@Sendable () async -> Int)?
  func connect() {
    report = { await self.next() }  // @closure
  }
  func next() -> Int {
    value += 1
    return value
  }
}
@inline(never) func makeCounter() async {
  let counter = Counter()  // @counter
  await counter.connect()
  print(await counter.report?() ?? 0)
}
@main struct Main {
  static func main() async {
    for _ in 0..<6 { await makeCounter() }
  }
}
