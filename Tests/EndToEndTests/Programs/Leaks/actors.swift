// Cycles through actors and asynchronous closures.
// FLAGS -parse-as-library

// Two actors hold each other.
// EXPECT leak kind=retainCycle types=App.Account,App.Bank fields=bank,accounts count=4 at=account|bank
actor Bank {
  var accounts: [Account] = []
  func add(_ account: Account) { accounts.append(account) }
}
actor Account {
  let bank: Bank
  var balance = 0
  init(bank: Bank) { self.bank = bank }
  func deposit(_ amount: Int) -> Int {
    balance += amount
    return balance
  }
}
@inline(never) func makeBank() async {
  let bank = Bank()  // @bank
  let account = Account(bank: bank)  // @account
  await bank.add(account)
  print(await account.deposit(4))
}

// An actor that stores an isolated closure of its own, and a default actor subclassing nothing with a task that ended.
// EXPECT leak kind=retainCycle types=App.Counter fields=report count=6 at=counter closure=connect closureAt=report
actor Counter {
  var value = 0
  var report: (@Sendable () async -> Int)?
  func connect() {
    report = { await self.next() }  // @report
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

// An async closure stored in self: its function word is no code address but an async function pointer.
// EXPECT leak kind=retainCycle types=App.Feed fields=load count=3 at=feed closure=connect closureAt=load
final class Feed {
  var items = 0
  var load: (() async -> Int)?
  func connect(step: Int) {
    load = {  // @load
      await Task.yield()
      self.items += step
      return self.items
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeFeed(_ step: Int) async {
  let feed = Feed()  // @feed
  feed.connect(step: step)
  print(await feed.load?() ?? 0)
  use(feed)
}
@main struct Main {
  static func main() async {
    for _ in 0..<4 { await makeBank() }
    for _ in 0..<6 { await makeCounter() }
    for step in 0..<3 { await makeFeed(step) }
  }
}
