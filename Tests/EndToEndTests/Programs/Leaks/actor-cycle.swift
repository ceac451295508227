// Two actors hold each other.
// EXPECT leak kind=retainCycle types=App.Account,App.Bank fields=bank,accounts count=4 at=account|bank
// FLAGS -parse-as-library
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
@main struct Main {
  static func main() async {
    for _ in 0..<4 { await makeBank() }
  }
}
