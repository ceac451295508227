// source: ReactiveCocoa/ReactiveSwift 2d467033 (#808)
// A producer observed a transformed signal and threw the disposable away, so that the observer stays with the signal, and
// the signal with the one that it was made from, which lives on. The fix adds the disposable to the lifetime of the producer.
// expect: growth Observer via Signal.observers

enum ReactiveSwiftLift: LeakCase {
  final class Observer {
    let action: (Int) -> Void
    init(_ action: @escaping (Int) -> Void) { self.action = action }
  }

  final class Signal {
    private var observers: [ObjectIdentifier: Observer] = [:]
    private var onLastGone: (() -> Void)?

    func observe(_ observer: Observer) -> () -> Void {
      observers[ObjectIdentifier(observer)] = observer
      return { [weak self, weak observer] in
        guard let self, let observer else { return }
        observers[ObjectIdentifier(observer)] = nil
        if observers.isEmpty { onLastGone?() }
      }
    }

    func map(_ transform: @escaping (Int) -> Int) -> Signal {
      let mapped = Signal()
      mapped.onLastGone = observe(Observer { mapped.send(transform($0)) })
      return mapped
    }

    func send(_ value: Int) { for observer in observers.values { observer.action(value) } }
  }

  final class Lifetime {
    private var onEnd: [() -> Void] = []
    func add(_ disposable: @escaping () -> Void) { onEnd.append(disposable) }
    deinit { for disposable in onEnd { disposable() } }
  }

  nonisolated(unsafe) static let trigger = Signal()

  @inline(never) static func oneRound() {
    let lifetime = Lifetime()
    let dispose = trigger.map { $0 + 1 }.observe(Observer { _ in })
    #if FIXED
      lifetime.add(dispose)
    #else
      _ = dispose
    #endif
    withExtendedLifetime(lifetime) { trigger.send(1) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { oneRound() }
  }
}
