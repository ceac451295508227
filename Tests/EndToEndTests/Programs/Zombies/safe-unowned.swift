// The runtime stops this one by itself; the report adds who made the object and who let it go.
// EXPECT zombie kind=unowned type=App.Account member=Card.account allocated=makeAccount freed=dropAccount used=owner
// EXPECT crash
final class Account {
  var name = "a"
}

final class Card {
  unowned let account: Account
  init(_ account: Account) { self.account = account }
  @inline(never) func owner() -> String { account.name }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func makeAccount() -> Account { Account() }
@inline(never) func dropAccount(_ account: inout Account?) {
  account = nil
  done()
}

var account: Account? = makeAccount()
let card = Card(account!)
dropAccount(&account)
print(card.owner())
