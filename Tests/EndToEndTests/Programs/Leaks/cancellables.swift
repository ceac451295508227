// A publisher chain in the manner of Combine: the subscription is kept by the object that its closure captures.
// MODULE Reactive
// EXPECT leak kind=retainCycle types=Reactive.ProfileModel fields=names,receivers count=3 at=model
final class AnyCancellable: Hashable {
  private let cancel: () -> Void
  init(_ cancel: @escaping () -> Void) { self.cancel = cancel }
  deinit { cancel() }
  static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
class Publisher<Output> {
  func sink(_ receive: @escaping (Output) -> Void) -> AnyCancellable { fatalError("abstract") }
  func map<Mapped>(_ transform: @escaping (Output) -> Mapped) -> Publisher<Mapped> { Map(self, transform) }
}
final class Map<Input, Output>: Publisher<Output> {
  let upstream: Publisher<Input>
  let transform: (Input) -> Output
  init(_ upstream: Publisher<Input>, _ transform: @escaping (Input) -> Output) {
    self.upstream = upstream
    self.transform = transform
  }
  override func sink(_ receive: @escaping (Output) -> Void) -> AnyCancellable {
    upstream.sink { [transform] in receive(transform($0)) }
  }
}
final class Subject<Output>: Publisher<Output> {
  private var receivers: [Int: (Output) -> Void] = [:]
  private var next = 0
  override func sink(_ receive: @escaping (Output) -> Void) -> AnyCancellable {
    next += 1
    receivers[next] = receive
    return AnyCancellable { [self, next] in receivers[next] = nil }
  }
  func send(_ value: Output) {
    for receive in receivers.values { receive(value) }
  }
}
final class ProfileModel {
  let names = Subject<String>()
  var length = 0
  var cancellables: Set<AnyCancellable> = []
  func bind() {
    names.map(\.count).sink { self.length = $0 }.store(in: &cancellables)
  }
}
extension AnyCancellable {
  func store(in set: inout Set<AnyCancellable>) { set.insert(self) }
}
@inline(never) func show() {
  let model = ProfileModel()  // @model
  model.bind()
  model.names.send("a name")
  print(model.length)
}
for _ in 0..<3 { show() }
