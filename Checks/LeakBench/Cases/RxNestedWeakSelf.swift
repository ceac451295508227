// source: ReactiveX/RxSwift 0c73df21b9ee
// `[weak self]` in a closure inside of another one makes the outer closure capture `self` strongly. The fix uses the outer
// closure's weak parameter.
// expect: leak Screen via Screen.binding

enum RxNestedWeakSelf: LeakCase {
  final class Screen {
    private var binding: ((Screen) -> (Int) -> Void)?
    private var shown = 0

    func bind() {
      #if FIXED
        binding = { this in { [weak this] in this?.shown = $0 } }
      #else
        binding = { this in { [weak self] in self?.shown = $0 } }
      #endif
    }

    func select(_ item: Int) { binding?(self)(item) }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds {
      let screen = Screen()
      screen.bind()
      screen.select(round)
    }
  }
}
