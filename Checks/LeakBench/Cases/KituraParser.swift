// source: Kitura/Kitura-net 33ad241 (#77)
// A message is the delegate of its parser. The two were separated only if the connection was not kept alive. The fix does
// so when the connection is closed, too.
// expect: leak IncomingMessage via Parser.delegate

protocol KituraParserDelegate: AnyObject {
  func onBody(_ bytes: [UInt8])
}

enum KituraParser: LeakCase {
  final class Parser {
    var delegate: (any KituraParserDelegate)?
    let keepAlive = true
    func execute(_ bytes: [UInt8]) { delegate?.onBody(bytes) }
  }

  final class IncomingMessage: KituraParserDelegate {
    private var parser: Parser?
    private var body: [UInt8] = []

    init() {
      let parser = Parser()
      parser.delegate = self
      self.parser = parser
    }

    func onBody(_ bytes: [UInt8]) { body += bytes }
    func parse(_ bytes: [UInt8]) {
      parser?.execute(bytes)
      if parser?.keepAlive == false { freeParser() }
    }
    private func freeParser() {
      parser?.delegate = nil
      parser = nil
    }
    func close() {
      #if FIXED
        freeParser()
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let message = IncomingMessage()
      message.parse([1, 2, 3])
      message.close()
    }
  }
}
