import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadTestSupport

/// What a process that was not recorded has beside memory, and small slices that keep large buffers.
@Suite struct ResourceTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Programs/Resources"
  ).path

  @Test func slicesDescriptorsAndThreads() async throws {
    let (outcome, directory) = try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let outcome = try await runShell(
        """
        cd \(quoted(directory.url.path)); tool=\(quoted(Tool.path)); sources=\(quoted(Self.sources))
        swiftc -O -parse-as-library -emit-module -emit-library -static -module-name NIOCore $sources/NIOCore.swift || exit 91
        swiftc -O -module-name App -I . -L . -lNIOCore $sources/main.swift -o app || exit 91
        \(AttachedProgram.words)
        start ./app
        $tool heap $program --save old.undead > /dev/null || exit 92
        $tool heap $program --format json -o heap.json || exit 93
        $tool heap $program --type App.Job --format json -o job.json || exit 95
        ask more > /dev/null
        $tool heap $program --save new.undead > /dev/null || exit 94
        $tool diff old.undead new.undead --format json -o diff.json
        kill -9 $program; wait $program 2> /dev/null; true
        """)
      return (outcome, directory)
    }
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("heap.json").utf8))
    slices(report)
    try descriptors(report)
    threads(report)
    // A word of a stack is named by the function whose frame it lies in.
    let job = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("job.json").utf8))
    let root = try #require(job.detail?.instances.first?.retainPath.first?.root)
    #expect(root.name.hasPrefix("stack of thread ") && root.name.hasSuffix(", in App.work()"), "\(root)")
    let diff = try JSONDecoder().decode(HeapDiff.self, from: Data(directory.contents("diff.json").utf8))
    let grown = try #require(diff.resources.first)
    #expect(grown.name == "socket of App.Connection.fd" && grown.before == 5 && grown.after == 15, "\(diff.resources)")
    #expect(diff.findings.isEmpty)
  }

  /// What closures keep and have is read off their code.
  @Test(arguments: ["-Onone", "-O"]) func closuresAndWaitingThreads(_ optimisation: String) async throws {
    let (outcome, directory) = try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let outcome = try await runShell(
        """
        cd \(quoted(directory.url.path)); tool=\(quoted(Tool.path)); sources=\(quoted(Self.sources))
        swiftc \(optimisation) -swift-version 5 -module-name App $sources/closures.swift -o app || exit 91
        \(AttachedProgram.words)
        # Once where the program's file is not where the tool would find it by its path.
        if [ \(optimisation) = -O ] && unshare -m true 2> /dev/null; then
          start unshare -m sh -c 'mount -t tmpfs none /mnt && cp app /mnt && exec /mnt/app'
        else
          start ./app
        fi
        $tool heap $program --by descriptor --top 100 --format json -o heap.json || exit 92
        kill -9 $program; wait $program 2> /dev/null; true
        """)
      return (outcome, directory)
    }
    try #require(outcome.ending == .exit(0), "\(outcome.errors)")
    let report = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("heap.json").utf8))
    let found = report.findings.filter { $0.kind == .wholeObject }
    let texts = found.map { finding in
      let fields = finding.advice.prefix { $0 != ":" }
      return "\(finding.type) \(fields), \(finding.closure?.frames.first?.symbol ?? "")"
    }
    let start = "App.Photo the closure reads"
    #expect(
      texts.sorted() == [
        "\(start) `name` and no more, closure #1 in App.keepPhotos()",
        "\(start) `name` and no more, closure #2 in App.keepPhotos()",
        "\(start) `steps` and no more, closure #3 in App.keepPhotos()",
      ])
    let rows = try #require(report.descriptors)
    let files = rows.filter { $0.kind == "file" && $0.target.contains(directory.url.lastPathComponent) }
    let holders = files.filter { !$0.target.hasSuffix("/in") && !$0.target.hasSuffix("/out") }.map {
      "\($0.target.split(separator: "/").last ?? ""): \($0.holder ?? "nobody")"
    }
    let captures = "closure context (captures"
    #expect(
      holders.sorted() == [
        "client: App.Limits.clientSocket", "closed: \(captures) Swift.Int32) {closure #1 in App.keepDescriptors()}",
        "connection: \(captures) App.Connection).fd", "noAttempt: nobody", "noCount: nobody", "noLimit: nobody",
        "noNumber: nobody", "noSignal: nobody", "noTexture: nobody",
        "typed: \(captures) App.FileDescriptor) {closure #4 in App.keepDescriptors()}",
        "variable: \(captures) Swift.Int32) {closure #3 in App.keepDescriptors()}",
        "written: \(captures) Swift.Int32) {closure #2 in App.keepDescriptors()}",
      ])
    let waiting = rows.filter { $0.type?.hasSuffix(" in accept()") ?? false }
    let place = try #require(waiting.first?.waits)
    #expect(waiting.count == 1 && waiting[0].kind == "socket" && place.frames.contains { $0.symbol == "App.serve()" })
  }

  private func slices(_ report: HeapReport) {
    let found = report.findings.filter { $0.kind == .sliceOfLargeBuffer }
    let texts = found.map { "\($0.container?.type ?? "").\($0.container?.field ?? "") \($0.usedBytes ?? -1)" }
    let expected = [
      "App.Frame.head._storage 100", "App.Owner.name 10", "global App.globalNumbers. 24", "global App.globalText. 3",
    ]
    #expect(texts.sorted() == expected)
    #expect(found.allSatisfy { $0.allocation.frames.isEmpty || $0.allocation.site?.package == nil })
  }

  private func descriptors(_ report: HeapReport) throws {
    let rows = try #require(report.descriptors)
    func holders(_ kind: String, _ target: String = "") -> [String?] {
      rows.filter { $0.kind == kind && $0.target.hasPrefix(target) }.map(\.holder)
    }
    #expect(holders("socket").filter { $0 == "App.Connection.fd" }.count == 5)
    #expect(holders("socket").contains("App.Log.socketFD"))
    let listeners = holders("socket").compactMap { $0 }.filter { $0.contains("Listener") }
    #expect(listeners.count { $0.contains("Array") } == 3 && listeners.count { $0.contains("Dictionary") } == 3)
    #expect(holders("device", "/dev/zero") == ["App.Log.file"])
    #expect(
      holders("device", "/dev/full").compactMap { $0 }.sorted() == [
        "App.Switchboard.fileDescriptor", "App.Switchboard.last", "App.Switchboard.line",
        "Swift._ContiguousArrayStorage<Swift.Int32>[]", "Swift._DictionaryStorage<Swift.Int32, Swift.String>[key]",
        "Swift._DictionaryStorage<Swift.Int32, Swift.String>[key]", "Swift._SetStorage<App.FileDescriptor>[element]",
        "global App.globalFD",
      ])
    #expect(holders("device", "/dev/random") == ["App.Switchboard.epfd"])
    // Its number is among others.
    #expect(holders("device", "/dev/urandom") == [nil])
    #expect(holders("device", "/dev/null").contains("DispatchIO"))
    #expect(holders("file", "/").contains("Foundation.FileHandle._fd"))
    #expect(holders("pipe").contains("source of libdispatch") && holders("pipe").contains(nil))
    #expect(rows.contains { $0.target == "anon_inode:[eventpoll] of libdispatch" })
    let connection = try #require(rows.first { $0.type == "App.Connection" })
    #expect(connection.retainPath.first?.root?.name == "App.connections")
  }

  private func threads(_ report: HeapReport) {
    let workers =
      report.threads?.filter { row in row.backtrace.frames.contains { $0.symbol.contains("closure") } } ?? []
    #expect(workers.count >= 3 && workers.allSatisfy { $0.stackBytes > 0 && $0.residentBytes > 0 })
  }
}
