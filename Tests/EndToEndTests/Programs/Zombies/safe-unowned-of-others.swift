// Another object than the one that was read has an `unowned` field for the dead one, too: that field is not named.
// EXPECT crash
// CASE safe-unowned-of-two-owners
// ARGS two
// EXPECT zombie kind=unowned type=App.Account member~=Loan.debtor used=useTwo
// CASE safe-unowned-captured
// ARGS captured
// EXPECT zombie kind=unowned type=App.Account member~=nothing used=useCaptured
// CASE safe-unowned-in-struct
// ARGS struct
// EXPECT zombie kind=unowned type=App.Account member~=nothing used=useStruct
final class Account { var name = "a" }
final class Card {
  let number = 1
  unowned let account: Account
  init(_ account: Account) { self.account = account }
}
final class Loan {
  let number = 2
  unowned let debtor: Account
  init(_ account: Account) { debtor = account }
}
struct Link { unowned let target: Account }
final class Holder {
  let number = 3
  let link: Link
  init(_ account: Account) { link = Link(target: account) }
}
@inline(never) @_optimize(none) func done(_ objects: AnyObject...) {}
@inline(never) @_optimize(none) func useTwo(_ card: Card, _ loan: Loan) -> String {
  defer { done(card, loan) }
  return loan.debtor.name
}
@inline(never) @_optimize(none) func useStruct(_ card: Card, _ holder: Holder) -> String {
  defer { done(card, holder) }
  return holder.link.target.name
}
@inline(never) @_optimize(none) func useCaptured(_ card: Card, _ use: () -> String) -> String {
  defer { done(card) }
  return use()
}
@inline(never) @_optimize(none) func closure(_ card: Card, _ account: Account) -> () -> String {
  { [number = card.number, unowned account] in "\(number)" + account.name }
}

nonisolated(unsafe) var account: Account? = Account()
let (card, loan, holder) = (Card(account!), Loan(account!), Holder(account!))
let captured = closure(card, account!)
account = nil
switch CommandLine.arguments.last {
case "two": print(useTwo(card, loan))
case "struct": print(useStruct(card, holder))
default: print(useCaptured(card, captured))
}
