import Foundation
import Testing
import UndeadTestSupport

/// The sample of zombies that is put into programs which were not started under the tool.
@Suite struct AttachZombieTests {
  private enum Build: String, CaseIterable {
    case sharedRuntime = "-O -g"
    case staticRuntime = "-O -static-stdlib"
  }

  private static let programs = AttachedProgram.folders(of: Build.self) { build in
    "swiftc \(build.rawValue) -module-name App \(quoted(AttachedProgram.sources))/AttachZombies/main.swift -o app"
  }

  private func run(
    _ script: String, _ build: Build = .sharedRuntime
  ) async throws -> (outcome: Outcome, directory: TemporaryDirectory) {
    try await AttachedProgram.run(
      Self.programs[build]!, tool: Tool.path, words: AttachedProgram.ended + "\nstart ./app", script)
  }

  private func zombies(_ file: String, _ directory: TemporaryDirectory) throws -> [[String: Any]] {
    let report = try JSONSerialization.jsonObject(with: Data(directory.contents(file).utf8)) as? [String: Any]
    #expect((report?["leaks"] as? [Any])?.count == 0)
    return report?["zombies"] as? [[String: Any]] ?? []
  }

  /// Objects that are watched hold others, which nobody else holds: they are no leaks. Those that live on at the end of the sample
  /// are freed after it.
  @Test(arguments: ["", "--sample 64KiB"])
  func aUseIsReportedAndTheProgramGoesOn(_ recording: String) async throws {
    let (outcome, directory) = try await run(
      """
      ask keep 100 > /dev/null; ask bug 10 > /dev/null
      $tool record $program --zombies --zombie-rate 1 \(recording) > answer; echo record $?
      ask handler > /dev/null; ask keep 100 > /dev/null; ask bug 10; ask call
      $tool record $program --zombies > /dev/null 2>&1; echo again $?
      $tool leaks $program --format json --output report.json; echo leaks $?
      ask fault; ask fork
      $tool record $program --stop > stopped; echo stop $?
      ask bug 10 > /dev/null; ask drop; ask fault; ask keep 10 > /dev/null
      $tool record $program --zombies --zombie-rate 1 > /dev/null; echo record $?
      ask keep 10 > /dev/null; ask drop
      $tool record $program --stop > /dev/null; ask keep 10 > /dev/null
      ended
      """)
    #expect(
      outcome.output == """
        record 0
        done
        8
        again 64
        leaks 23
        fault 43 0
        child 9 0
        stop 0
        done
        fault 43 0
        record 0
        done
        status 0
        end 30

        """, "\(outcome)")
    #expect(directory.contents("answer").contains("one object in 1 "))
    #expect(directory.contents("stopped").contains("takes back the objects"))
    let zombies = try zombies("report.json", directory)
    #expect(zombies.map { $0["type"] as? String } == ["App.Session", "App.Session"])
    #expect(zombies.first?["member"] as? String == "Session.requests")
    #expect(zombies.first?["count"] as? Int == 10)
  }

  @Test func anObjectThatEscapesAndAListOfBuffersAreReported() async throws {
    let (outcome, directory) = try await run(
      """
      $tool record $program --zombies --zombie-rate 1 > /dev/null; echo record $?
      ask message; ask escape
      $tool leaks $program --format json --output report.json; echo leaks $?
      ended
      """)
    #expect(outcome.output == "record 0\n8\ndone\nleaks 23\nstatus 45\ndone\n", "\(outcome)")
    let found = Dictionary(grouping: try zombies("report.json", directory)) { $0["kind"] as? String ?? "" }
    #expect(found["escape"]?.first?["type"] as? String == "App.Escaping")
    #expect(found["field"]?.first?["member"] as? String == "Session.requests")
  }

  /// The tool stays, and hands over what is found.
  @Test func theCommandGetsAUseWhileTheProgramRuns() async throws {
    let (outcome, directory) = try await run(
      """
      $tool record $program --zombie-types App.Session --zombie-rate 1000000000 --on-finding 'cat > new; mv new found.json' \
        --format json --output report.json 7>&- & tool=$!
      until [ -e found.json ]; do kill -0 $tool || break; ask bug 10 > /dev/null; sleep 0.1; done
      ended
      wait $tool; echo tool $?
      """)
    #expect(outcome.output == "status 0\nend 0\ntool 23\n", "\(outcome)")
    for file in ["found.json", "report.json"] {
      #expect(try zombies(file, directory).map { $0["type"] as? String } == ["App.Session"])
    }
  }

  /// The page cannot be given back: a copy takes its place.
  @Test func aFilterOfSystemCallsThatComesLaterIsNoHarm() async throws {
    let (outcome, _) = try await run(
      """
      $tool record $program --zombies --zombie-rate 1 > /dev/null; echo record $?
      ask keep 10 > /dev/null; ask deny; ask keep 10 > /dev/null; ask bug 10; ask drop; ended
      """)
    #expect(outcome.output == "record 0\n41\ndone\ndone\nstatus 0\nend 0\n", "\(outcome)")
  }

  @Test func whatCannotBeSampledIsRefusedAndGoesOn() async throws {
    let script = """
      $tool record $program --zombies 2> errors; echo record $?
      ask bug 10; ask keep 10 > /dev/null; ended
      """
    let (blocked, directory) = try await run("ask block > /dev/null\n\(script)")
    #expect(blocked.output == "record 64\ndone\nstatus 0\nend 30\n", "\(blocked)")
    #expect(directory.contents("errors").contains("blocks SIGSEGV"))
    let (linked, other) = try await run(script, .staticRuntime)
    #expect(linked.output == "record 64\ndone\nstatus 0\nend 30\n", "\(linked)")
    #expect(other.contents("errors").contains("statically"))
  }
}
