// An async method of a dead object.
// EXPECT zombie in=debug kind=method|retain type=App.Service member~=load allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|retain|field type=App.Service allocated=make freed=drop
// EXPECT crash
class Service {
  var value = 3
  func load(_ number: Int) async -> Int {
    await Task.yield()
    return value + number
  }
}

class Special: Service {
  override func load(_ number: Int) async -> Int { value }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Service> { Unmanaged.passRetained(Service()) }
@inline(never) func drop(_ service: Unmanaged<Service>) {
  service.release()
  done()
}
@inline(never) func ask(_ service: Unmanaged<Service>) async {
  let dead = unsafeBitCast(service.toOpaque(), to: Service.self)
  print(await dead.load(2))
}

let service = make()
drop(service)
await ask(service)
