// Cycles through payloads of enums with several cases, in which a word is a reference in one case and a number or another part in the next.
// Numbers and weak references name them, so that counts decide. What leaked also has the addresses of living objects as numbers in such words: those
// own nothing.
// EXPECT leak types=App.Pair count=1
// EXPECT leak types=App.Text count=1
// EXPECT leak types=App.Call count=1
// EXPECT leak types=App.Nested count=1
// EXPECT leak types=App.Maybe count=1
// EXPECT leak types=App.Elements count=1
// EXPECT leak types=App.Failing count=1
// EXPECT leak types=App.Outcome count=1
// EXPECT leak types=App.Generic count=1
// EXPECT leak types=App.Numbers count=1
import Foundation

enum Payload<Owner> {
  case first(Int, Owner)
  case second(Owner, Int)
  case numbers(Int, Int)
  case real(Double)
  case none
}
enum TextOrOwner {
  case text(String)
  case owner(Text)
  case nothing
}
enum Handler {
  case call(() -> Void)
  case number(Int)
  case text(String, Int)
}
enum Inner {
  case owner(Nested)
  case number(Int)
}
enum Outer {
  case inner(Inner)
  case number(Int)
  case owner(Nested)
}
enum OwnerOrNumber<Owner> {
  case owner(Owner)
  case number(Int)
}
enum Failure: Error {
  case owner(Failing)
  case number(Int)
  case text(String)
}

final class Pair { var payload = Payload<Pair>.none }
final class Text { var payload = TextOrOwner.nothing }
final class Call {
  var payload = Handler.number(1)
  var calls = 0
}
final class Nested { var payload = Outer.number(1) }
final class Maybe { var payload: OwnerOrNumber<Maybe>? }
final class Elements { var payload: [OwnerOrNumber<Elements>] = [] }
final class Failing: @unchecked Sendable { var payload: (any Error)? }
final class Outcome: @unchecked Sendable { var payload: Result<(String, Outcome), any Error>? }
final class Generic { var payload = Payload<Generic>.none }

/// Living, and owned by a word that no scan can read.
final class Living: @unchecked Sendable {}
/// Leaked, with addresses of living objects as numbers.
final class Numbers: @unchecked Sendable {
  var own: Numbers?
  var pairs: [Payload<Living>] = []
  var single = OwnerOrNumber<Living>.number(0)
  var maybe: OwnerOrNumber<Living>?
  var outcome: Result<Int, any Error>?
  var call: Handler = .number(0)
}

nonisolated(unsafe) var seen: Set<ObjectIdentifier> = []
nonisolated(unsafe) var hidden: [UInt] = []

/// Retained for an owner that is not in memory as an address.
func livingNumber() -> Int {
  let object = Unmanaged.passRetained(Living())
  let address = UInt(bitPattern: object.toOpaque())
  seen.insert(ObjectIdentifier(object.takeUnretainedValue()))
  hidden.append(~address)
  return Int(bitPattern: address)
}

func makeNumbers() {
  let numbers = Numbers()
  numbers.own = numbers
  numbers.pairs = [.numbers(1, livingNumber()), .numbers(livingNumber(), 2), .real(1), .none]
  numbers.single = .number(livingNumber())
  numbers.maybe = .number(livingNumber())
  numbers.outcome = .success(livingNumber())
  numbers.call = .text("short", livingNumber())
  seen.insert(ObjectIdentifier(numbers))
}

func makeCycles() {
  let (pair, text, call, nested, maybe) = (Pair(), Text(), Call(), Nested(), Maybe())
  pair.payload = .second(pair, 5)
  text.payload = .owner(text)
  call.payload = .call { call.calls += 1 }
  nested.payload = .inner(.owner(nested))
  maybe.payload = .owner(maybe)
  let (elements, failing, outcome, generic) = (Elements(), Failing(), Outcome(), Generic())
  elements.payload = [.number(1), .owner(elements), .number(2)]
  failing.payload = Failure.owner(failing)
  outcome.payload = .success(("text", outcome))
  generic.payload = .first(3, generic)
  let all: [AnyObject] = [pair, text, call, nested, maybe, elements, failing, outcome, generic]
  for object in all { seen.insert(ObjectIdentifier(object)) }
}

makeNumbers()
makeCycles()
print(seen.count, hidden.count)
