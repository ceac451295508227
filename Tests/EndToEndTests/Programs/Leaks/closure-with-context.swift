// The closure captures self and more, so it has a context block of its own.
// EXPECT leak kind=retainCycle types=App.Screen fields=handler count=7 at=screen closure=install closureAt=closure
final class Logger {
  var lines = 0
}
final class Screen {
  var taps = 0
  var handler: (() -> Void)?

  func install(logger: Logger, step: Int) {
    handler = {  // @closure
      self.taps += step  // @closure
      logger.lines += step
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeScreen(_ logger: Logger, _ step: Int) {
  let screen = Screen()  // @screen
  screen.install(logger: logger, step: step)
  screen.handler?()
  use(screen)
}
let logger = Logger()
for step in 0..<7 { makeScreen(logger, step) }
print(logger.lines)
