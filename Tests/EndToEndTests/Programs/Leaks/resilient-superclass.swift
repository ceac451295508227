// A subclass of a Foundation class: its fields start where the resilient superclass ends.
// EXPECT leak kind=retainCycle types=App.Decoder,App.Context fields=context,decoder count=3 at=decoder|context
import Foundation

final class Context {
  var decoder: Decoder?
}
final class Decoder: JSONDecoder, @unchecked Sendable {
  var strict: UInt16 = 3
  var context: Context?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let decoder = Decoder()  // @decoder
  let context = Context()  // @context
  decoder.context = context
  context.decoder = decoder
  use(decoder)
}
for _ in 0..<3 { make() }
