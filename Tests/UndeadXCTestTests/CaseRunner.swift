import Synchronization
import XCTest

/// Runs the code of a test in a test case of XCTest, of which the test run around it sees nothing.
@MainActor enum CaseRunner {
  struct Failure: Sendable, Equatable {
    var text: String
    var line: Int
  }

  /// Runs a case, and returns what failed.
  static func failures<Case: XCTestCase>(
    in type: Case.Type = Case.self, named name: String = "testBody", _ body: @escaping (Case) throws -> Void
  ) -> [Failure] {
    run(type.init(name: name) { try body($0 as! Case) })
  }

  /// Runs cases or a suite, and returns what failed.
  static func run(_ test: XCTest) -> [Failure] {
    let observer = FailureObserver()
    XCTestObservationCenter.shared.addTestObserver(observer)
    test.run()
    XCTestObservationCenter.shared.removeTestObserver(observer)
    return observer.failures
  }
}

private final class FailureObserver: NSObject, XCTestObservation {
  private(set) var failures: [CaseRunner.Failure] = []

  func testCase(
    _ testCase: XCTestCase, didFailWithDescription description: String, inFile filePath: String?,
    atLine lineNumber: Int
  ) {
    failures.append(CaseRunner.Failure(text: description, line: lineNumber))
  }
}

/// What leaks.
final class Owner {
  var item: Item?
}

final class Item {
  var owner: Owner?
}

@inline(never) func makeCycle() {
  let owner = Owner()
  owner.item = Item()
  owner.item?.owner = owner
}

/// What stays reachable.
enum Registry {
  static let owners = Mutex<[SendableOwner]>([])
}

final class SendableOwner: Sendable {}
