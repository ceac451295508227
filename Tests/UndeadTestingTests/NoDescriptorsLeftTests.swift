import Glibc
import Testing
import UndeadTesting

/// Other suites open files meanwhile: what is left is known by its name.
@Suite(.serialized) struct NoDescriptorsLeftTests {
  private func openNull() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

  @Test func whatIsLeftIsNamed() {
    var file: Int32 = -1
    let line = #line + 2
    withKnownIssue {
      assertNoDescriptorsLeft(after: .zero) { file = openNull() }
    } matching: {
      $0.comments.first?.rawValue.contains(" device  /dev/null") == true && $0.sourceLocation?.line == line
    }
    close(file)
  }

  @Test func whatAnAsynchronousBodyLeaves() async {
    var file: Int32 = -1
    await withKnownIssue {
      await assertNoDescriptorsLeft(after: .zero) { () async -> Void in
        await Task.yield()
        file = openNull()
      }
    } matching: {
      $0.comments.first?.rawValue.contains(" device  /dev/null") == true
    }
    close(file)
  }

  @Test(.noDescriptorsLeft) func whatIsClosedIsNotLeft() async {
    let file = openNull()
    await Task.yield()
    close(file)
  }

  @Test func whatIsClosedLater() {
    assertNoDescriptorsLeft(after: .seconds(60)) {
      let file = openNull()
      Task.detached { close(file) }
    }
  }
}
