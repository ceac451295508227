// source: swiftlang/sourcekit-lsp b4409ff2
// A delegate that is not weak.
// expect: leak Server via BuildSystem.delegate

protocol LSPDelegateProtocol: AnyObject {
  func settingsChanged()
}

enum LSPDelegate: LeakCase {
  final class BuildSystem {
    #if FIXED
      weak var delegate: (any LSPDelegateProtocol)?
    #else
      var delegate: (any LSPDelegateProtocol)?
    #endif
    func reload() { delegate?.settingsChanged() }
  }

  final class Server: LSPDelegateProtocol {
    private let buildSystem = BuildSystem()
    private var changes = 0
    @inline(never) func open() {
      buildSystem.delegate = self
      buildSystem.reload()
    }
    func settingsChanged() { changes += 1 }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Server().open() }
  }
}
