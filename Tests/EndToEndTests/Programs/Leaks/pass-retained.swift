// `passRetained` without a release: nobody points at the object, its count says that somebody does.
// EXPECT leak kind=unreferenced types=App.Token count=25 at=token also=App.Payload
final class Payload {
  var bytes = [UInt8](repeating: 7, count: 200)
}
final class Token {
  let payload = Payload()
}
@inline(never) @_optimize(none) func send(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func register() {
  let token = Token()  // @token
  send(Unmanaged.passRetained(token).toOpaque())
}
for _ in 0..<25 { register() }
