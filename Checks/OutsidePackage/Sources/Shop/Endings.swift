import Foundation

/// How a test is to end, from the environment.
public let ending = ProcessInfo.processInfo.environment["ENDING"]

/// Leaks an order.
@inline(never) public func makeOrder() {
  let order = Order()
  order.invoice = Invoice()
  order.invoice?.order = order
}

/// Ends the process, or a copy of it that does something first.
public func reach(_ ending: String?, inCopy: () -> Void) {
  switch ending {
  case "trap": fatalError("as asked for")
  case "exit": exit(3)
  case "fork":
    let status = inForkedCopy {
      inCopy()
      return 5
    }
    print("the copy ended with \(status)")
  default: break
  }
}

/// Runs the body in a forked copy of the process, which then exits; returns its status.
private func inForkedCopy(_ body: () -> Int32) -> Int32 {
  // Swift hides fork(), since hardly anything may be done in the copy.
  typealias Fork = @convention(c) () -> pid_t
  fflush(nil)
  let child = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
  if child == 0 { exit(body()) }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status >> 8
}
