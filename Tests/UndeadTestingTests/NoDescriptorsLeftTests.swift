import Glibc
import Testing
import UndeadTesting

/// Other suites open files meanwhile: what is left is known by its name. Nobody else opens this file, so that no number of before can be
/// that of the same file.
@Suite(.serialized) struct NoDescriptorsLeftTests {
  private func openOwn() -> Int32 { open(#filePath, O_RDONLY | O_CLOEXEC) }
  private func isNamed(in issue: Issue) -> Bool {
    let text = issue.comments.first?.rawValue ?? ""
    return text.contains(" file  /") && text.contains(#fileID)
  }

  @Test func whatIsLeftIsNamed() {
    var file: Int32 = -1
    let line = #line + 2
    withKnownIssue {
      assertNoDescriptorsLeft(after: .zero) { file = openOwn() }
    } matching: {
      isNamed(in: $0) && $0.sourceLocation?.line == line
    }
    close(file)
  }

  @Test func whatAnAsynchronousBodyLeaves() async {
    var file: Int32 = -1
    await withKnownIssue {
      await assertNoDescriptorsLeft(after: .zero) { () async -> Void in
        await Task.yield()
        file = openOwn()
      }
    } matching: {
      isNamed(in: $0)
    }
    close(file)
  }

  @Test(.noDescriptorsLeft) func whatIsClosedIsNotLeft() async {
    let file = openOwn()
    await Task.yield()
    close(file)
  }

  @Test func whatIsClosedLater() {
    assertNoDescriptorsLeft(after: .seconds(60)) {
      let file = openOwn()
      Task.detached { close(file) }
    }
  }
}
