import Foundation
import Testing

/// The code of the articles compiles: each block stands in `DocumentedCode.swift`, line by line.
@Suite struct DocumentationTests {
  private static let here = URL(filePath: #filePath).deletingLastPathComponent()
  private static let articles = here.appending(path: "../../Sources/UndeadRunLoop/UndeadRunLoop.docc").standardized

  @Test(arguments: ["UndeadRunLoop", "MigratingFromFoundation", "ThreadsAndExecutors", "VirtualTime", "Tolerance"])
  func itsCodeCompiles(article: String) throws {
    let text = try String(contentsOf: Self.articles.appending(path: "\(article).md"), encoding: .utf8)
    let code = try String(contentsOf: Self.here.appending(path: "DocumentedCode.swift"), encoding: .utf8)
    let compiled = Self.lines(code).joined(separator: "\n")
    let blocks = Self.blocks(text)
    #expect(!blocks.isEmpty)
    for block in blocks {
      #expect(compiled.contains(block), "in \(article).md, but not in DocumentedCode.swift:\n\(block)")
    }
  }

  /// What stands between "```swift" and "```", without indentation.
  private static func blocks(_ text: String) -> [String] {
    text.components(separatedBy: "```swift\n").dropFirst().map { rest in
      lines(rest.components(separatedBy: "```")[0]).joined(separator: "\n")
    }
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
