import Testing

@testable import UndeadRunLoop

class Animal: @unchecked Sendable {}
final class Cat: Animal, @unchecked Sendable {
  let name = "Tom"
  let ticks = Counter()
  func tick(_ timer: TrackedTimer) { ticks.up() }
}

@Suite(.timeLimit(.minutes(20))) struct ProxyTests {
  @Test func aProxyForwardsAndDoesNotHold() {
    var cat: Cat? = Cat()
    let proxy = WeakProxy(cat!)
    #expect(proxy.name == "Tom")
    #expect(proxy.forward { $0.name } == "Tom")
    cat = nil
    #expect(proxy.target == nil)
    #expect(proxy.name == nil)
    #expect(proxy.forward { $0.name } == nil)
  }

  @Test func onlyTheTransparentProxyPassesForItsTarget() {
    let cat = Cat()
    let plain = WeakProxy(cat)
    let transparent = TransparentWeakProxy(cat)
    #expect(!plain.isKind(of: Cat.self))
    #expect(plain.isKind(of: WeakProxy<Cat>.self))
    #expect(transparent.isKind(of: Cat.self))
    #expect(transparent.isKind(of: Animal.self))
    #expect(!transparent.isKind(of: Witness.self))
    #expect(transparent == TransparentWeakProxy(cat))
    #expect(transparent != TransparentWeakProxy(Cat()))
    #expect(Set([transparent, TransparentWeakProxy(cat)]).count == 1)
  }

  @Test func equalityAndHashOutliveTheTarget() {
    var cat: Cat? = Cat()
    let proxy = TransparentWeakProxy(cat!)
    let known: Set = [proxy]
    cat = nil
    #expect(known.contains(proxy))
    #expect(!proxy.isKind(of: Cat.self))
  }

  @Test func aProxyOfAProxyKeepsTheInnerOne() {
    let cat = Cat()
    let outer = WeakProxy(WeakProxy(cat))
    #expect(outer.target != nil)
    #expect(outer.forward { $0.forward { $0.name } } == "Tom")
    let transparent = TransparentWeakProxy(TransparentWeakProxy(cat))
    #expect(transparent.isKind(of: Cat.self))
    #expect(transparent == TransparentWeakProxy(TransparentWeakProxy(cat)))
  }

  @Test func aTimerWithAProxyLetsItsOwnerDie() throws {
    let test = TestLoop()
    var cat: Cat? = Cat()
    weak let watched = cat
    let timer = try TrackedTimer(timeInterval: 0.1, target: WeakProxy(cat!), repeats: true) { cat, timer in
      cat.forward { $0.tick(timer) }
      test.note("tick")
    }
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 0.2)
    cat = nil
    #expect(watched == nil)
    test.run(seconds: 0.2)
    #expect(test.log == ["tick@0.1", "tick@0.2"])
    #expect(timer.isValid)
  }
}
