import Undead
import XCTest

extension TrackedObject {
  /// The property of the test case that leads to the object, by what reflection shows: all that is known where nobody can
  /// tell a retain path. Nil if there is none, or if the instrument can tell.
  func property(of testCase: XCTestCase) -> String? {
    guard !Availability.isSupported else { return nil }
    var mirror: Mirror? = Mirror(reflecting: testCase)
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(testCase)]
    while let present = mirror, present.subjectType != XCTestCase.self {
      for child in present.children where isReached(from: child.value, &seen) { return child.label }
      mirror = present.superclassMirror
    }
    return nil
  }

  /// More objects than a test has.
  private static let limit = 10_000

  private func isReached(from value: Any, _ seen: inout Set<ObjectIdentifier>) -> Bool {
    var waiting = [value]
    while let value = waiting.popLast(), seen.count < Self.limit {
      var mirror: Mirror? = Mirror(reflecting: value)
      if mirror?.displayStyle == .class {
        let object = value as AnyObject
        if self.is(object) { return true }
        guard seen.insert(ObjectIdentifier(object)).inserted else { continue }
      }
      while let present = mirror {
        waiting += present.children.map(\.value)
        mirror = present.superclassMirror
      }
    }
    return false
  }
}
