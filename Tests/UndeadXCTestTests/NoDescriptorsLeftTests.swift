import Glibc
import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized) @MainActor struct NoDescriptorsLeftTests {
  @Test func whatIsLeftIsNamed() {
    var (file, line): (Int32, Int) = (-1, 0)
    let failures = CaseRunner.failures { (_: XCTestCase) in
      line = #line + 1
      assertNoDescriptorsLeft(after: .zero) { file = open(#filePath, O_RDONLY | O_CLOEXEC) }
    }
    close(file)
    #expect(failures.map(\.line) == [line])
    #expect(failures.first?.text.contains("\(file) file  /") == true && failures.first?.text.contains(#fileID) == true)
  }

  @Test func whatIsClosedIsNotLeft() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoDescriptorsLeft(after: .seconds(60)) { _ = close(open(#filePath, O_RDONLY | O_CLOEXEC)) }
    }
    #expect(failures == [])
  }
}
