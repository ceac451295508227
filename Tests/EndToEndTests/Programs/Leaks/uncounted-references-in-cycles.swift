// References that are not counted close no cycle where a strong one does.
// EXPECT leak kind=retainCycle types=App.Customer,App.Card fields=card,owner count=2
// EXPECT leak kind=retainCycle types=App.Window fields=onClose count=1
// EXPECT leak kind=retainCycle types=App.Decoder,App.Stage fields=stages,decoder count=1
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

final class Card {
  let owner: Customer
  init(_ owner: Customer) { self.owner = owner }
}
final class Customer {
  var card: Card?
  unowned(unsafe) var mostRecent: Customer?
  init() {
    card = Card(self)
    mostRecent = self
  }
}

final class Window {
  var userData: UnsafeMutableRawPointer?
  var onClose: (() -> Void)?
  init() {
    userData = Unmanaged.passUnretained(self).toOpaque()
    onClose = { self.userData = nil }
  }
}

final class Stage {
  let decoder: Decoder
  let first: Unmanaged<Decoder>
  init(_ decoder: Decoder) {
    self.decoder = decoder
    first = .passUnretained(decoder)
  }
}
final class Decoder {
  var stages: [Stage] = []
  func add() { stages.append(Stage(self)) }
}

@inline(never) func customers() { for _ in 0..<2 { use(Customer()) } }
@inline(never) func window() { use(Window()) }
@inline(never) func decoder() {
  let decoder = Decoder()
  decoder.add()
  use(decoder)
}

customers()
window()
decoder()
