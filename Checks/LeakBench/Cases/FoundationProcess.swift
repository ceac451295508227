// source: swiftlang/swift-corelibs-foundation f22ea1a6d
// A process kept its run loop source, whose C context has a retained reference to the process. The fix clears the field
// when the process has ended.
// expect: leak Child via Child.source

enum FoundationProcess: LeakCase {
  struct SourceContext {
    var version = 0
    var info: UnsafeMutableRawPointer?
    var release: ((UnsafeMutableRawPointer?) -> Void)?
  }

  final class Source {
    private let context: SourceContext
    init(_ context: SourceContext) { self.context = context }
    deinit { context.release?(context.info) }
  }

  final class Child {
    private var source: Source?
    private var isRunning = false

    func run() {
      isRunning = true
      var context = SourceContext()
      context.info = Unmanaged.passRetained(self).toOpaque()
      context.release = { Unmanaged<Child>.fromOpaque($0!).release() }
      source = Source(context)
    }

    func waitUntilExit() {
      isRunning = false
      #if FIXED
        source = nil
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let child = Child()
      child.run()
      child.waitUntilExit()
    }
  }
}
