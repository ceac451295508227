import Foundation
import Testing
import UndeadFormats
import UndeadHeap
import UndeadHeapSamples
import UndeadReport

/// `undead merge`.
@Suite(.timeLimit(.minutes(20))) struct MergeCommandTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    for (name, count) in [("a", 2), ("b", 5)] {
      let object = LeakedObject(type: "App.Node", address: "0x10", size: 48)
      var report = LeakReport(
        process: .init(path: "/app/App", pid: count),
        leaks: [
          Leak(
            signature: "abc", kind: .unreferenced, count: count, objectCount: count, totalBytes: count * 48,
            objects: [object])
        ])
      report.updateCounts()
      try JSONRenderer.render(report).write(to: sandbox.directory.appending(path: "\(name).json"))
      var heap = HeapBuilder()
      for _ in 0..<count { heap.global("App.cache", holds: heap.object("App.Cache", size: 48)) }
      try heap.encoded().write(to: sandbox.directory.appending(path: "\(name).undead"))
    }
    try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")
  }

  @Test func reports() throws {
    let text = try sandbox.undead("merge", "web-1=a.json", "web-2=b.json", "clean.undead")
    #expect(text.status == 23 && text.error == "", "\(text)")
    #expect(
      text.out.contains("         7     2/3        0        2        5  leak of App.Node  [abc]  (web-1, web-2)\n"),
      "\(text.out)")
    #expect(try sandbox.undead("merge", "--exit-code", "0", "a.json").status == 0)
    #expect(try sandbox.undead("merge", "clean.undead").status == 0)
    let junit = try sandbox.undead("merge", "--format", "junit", "a.json", "b.json")
    #expect(junit.status == 23 && junit.out.contains("<testsuite"))
  }

  @Test func theOrderOfFilesDoesNotMatter() throws {
    let one = try sandbox.undead("merge", "--format", "json", "a.json", "b.json", "a.json", "clean.undead")
    let other = try sandbox.undead("merge", "--format", "json", "clean.undead", "a.json", "a.json", "b.json")
    #expect(one.out == other.out && one.status == 23)
    let merged = try JSONDecoder().decode(MergedReport.self, from: Data(one.out.utf8))
    #expect(merged.kind == "mergedReport" && merged.report.leaks.map(\.count) == [7])
  }

  @Test func heaps() throws {
    let json = try sandbox.undead("heap", "a.undead", "--format", "json", "--output", "a-heap.json")
    #expect(json.status == 0)
    let text = try sandbox.undead("merge", "web-1=a-heap.json", "web-2=b.undead")
    #expect(
      text.status == 0 && text.out.contains("7     2/2          2          2          5  App.Cache\n"), "\(text.out)")
    #expect(try sandbox.undead("merge", "--leaks", "a.undead", "a.json").status == 23)
  }

  @Test(arguments: [
    (["a.json", "b.undead"], "are not merged with each other"),
    (["none.json"], "cannot read 'none.json'"), (["."], "'.' is a directory"),
    (["merged.json"], "it was merged already"),
    (["growth.json"], "it is of the kind 'growth'"), (["broken.json"], "cannot merge 'broken.json'"),
    (["newer.json"], "schema"), (["--format", "dot", "a.undead"], "writes text or json"),
    (["--leaks", "heap.json"], "has no leaks"),
  ])
  func wrongInput(arguments: [String], message: String) throws {
    for (name, text) in [
      ("merged", "{\"kind\": \"mergedReport\"}"), ("growth", "{\"kind\": \"growth\"}"),
      ("broken", "{\"schemaVersion\": "),
      ("newer", "{\"kind\": \"heap\", \"schemaVersion\": 9}"), ("heap", "{\"kind\": \"heap\"}"),
    ] {
      try Data(text.utf8).write(to: sandbox.directory.appending(path: "\(name).json"))
    }
    let result = try sandbox.undead(list: ["merge"] + arguments)
    #expect(result.status == 64 && result.error.contains(message), "\(result)")
    #expect(result.out == "")
  }
}
