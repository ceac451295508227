import Foundation
import Synchronization
import Testing
import UndeadTestSupport

@testable import UndeadReport

/// Files, lines and inlined calls of small programs.
@Suite(.timeLimit(.minutes(20))) struct SymbolizerTests {
  private let sandbox: Sandbox
  private static let source = """
    public final class Owner { var next: Owner? }
    @inline(never) public func sink(_ owner: Owner) { print(owner) }
    @inline(__always) func inner(_ count: Int) { for _ in 0..<count { sink(Owner()) } }
    @inline(never) public func outer(_ count: Int) { inner(count) }
    @inline(never) public func waits() async { let owner = Owner(); await Task.yield(); sink(owner) }
    @inline(never) func hidden() { sink(Owner()) }
    public func closure() -> () -> Void { let owner = Owner(); return { sink(owner) } }
    public struct Wrapper { let owner: Owner; public func closure() -> (Int) -> Void { { _ in sink(self.owner) } } }
    hidden()
    outer(CommandLine.argc == 1 ? 1 : 2)
    public final class One { var n = 0; var f: (() -> Void)?; public func start() { f = { self.n += 1 } } }
    public final class Two { var n = 0; var f: (() -> Void)?; public func start() { hidden(); f = { self.n += 1 } } }
    @inline(never) public func first() async { hidden(); await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in hidden() } }
    @inline(never) public func second() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in outer(3) } }
    """
  private static let bias: UInt64 = 0x5000_0000

  init() throws { sandbox = try Sandbox() }

  private typealias Build = (module: Snapshot.Module, functions: [ELFSymbol])

  /// What each set of options made, for all tests.
  private static let builds = Mutex<[[String]: Build]>([:])
  private static let file = Result {
    let file = try TemporaryDirectory.untilExit().appending(path: "Fixture.swift").path
    try source.write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  private func build(_ options: String...) throws -> Build {
    try Self.builds.withLock { builds in
      if let build = builds[options] { return build }
      let build = try newBuild(options)
      builds[options] = build
      return build
    }
  }

  private func newBuild(_ options: [String]) throws -> Build {
    let program = try TemporaryDirectory.untilExit().appending(path: "fixture").path
    let result = try sandbox.command(
      ["swiftc", "-module-name", "Fixture", Self.file.get(), "-o", program] + options)
    try #require(result.status == 0, "\(result.error)")
    let file = try #require(try ELFFile(path: program))
    let table = file.functions()
    let end = try #require(file.segments.map { $0.address + $0.memorySize }.max())
    var functions: [ELFSymbol] = []
    for address in 0..<end {
      if let symbol = table.function(at: address), symbol.size > 0, functions.last != symbol {
        functions.append(symbol)
      }
    }
    let module = Snapshot.Module(
      low: Self.bias, high: Self.bias + end, bias: Self.bias, path: program, buildID: file.buildID)
    return (module, functions)
  }

  /// The frames of every byte of a function.
  private func frames(
    of name: String, in build: (module: Snapshot.Module, functions: [ELFSymbol]), symbolizer: Symbolizer = Symbolizer()
  ) throws -> [[Frame]] {
    let function = try #require(build.functions.first { Demangler.readable($0.name) == name })
    let addresses = (function.address..<function.address + function.size).map { $0 + Self.bias }
    let result = symbolizer.symbolize(addresses, modules: [build.module])
    return addresses.compactMap { result.symbols[$0] }
  }

  @Test func givesFileAndLine() throws {
    let frames = try frames(of: "Fixture.outer(_:)", in: build("-g", "-Onone"))
    let plain = try #require(frames.first?.first)
    #expect(plain.symbol == "Fixture.outer(_:)")
    #expect(try plain.file == Self.file.get())
    #expect(plain.line == 4)
    #expect(plain.module == "fixture")
    #expect(!plain.inlined)
  }

  /// The symbol table names a file for local symbols, but that of the last object that says its name.
  @Test func namesNoFileWithoutDebugInformation() throws {
    let frames = try frames(of: "Fixture.hidden()", in: build("-O"))
    #expect(!frames.isEmpty)
    #expect(frames.joined().allSatisfy { $0.symbol == "Fixture.hidden()" && $0.file == nil && $0.line == nil })
  }

  @Test func givesInlinedCalls() throws {
    let frames = try frames(of: "Fixture.outer(_:)", in: build("-g", "-O"))
    let chain = try #require(frames.first { $0.contains { $0.symbol == "Fixture.inner(_:)" } })
    let inner = try #require(chain.first { $0.symbol == "Fixture.inner(_:)" })
    #expect(inner.inlined)
    #expect(inner.line == 3)
    #expect(chain.last?.symbol == "Fixture.outer(_:)")
    #expect(chain.last?.inlined == false)
    #expect(chain.last?.line == 4)
  }

  @Test func namesThePartsOfAsyncFunctions() throws {
    let build = try build("-g", "-Onone")
    let parts = build.functions.filter { $0.name.contains("5waits") && $0.name.hasSuffix("_") && $0.name.contains("T") }
    #expect(!parts.isEmpty)
    for part in parts {
      let result = Symbolizer().symbolize([part.address + Self.bias], modules: [build.module])
      #expect(result.symbols[part.address + Self.bias]?.last?.symbol == "Fixture.waits()")
    }
  }

  /// Equal ends of asynchronous functions are one function without a line: the part before has that of the wait.
  @Test func partsWithoutLinesHaveThatOfTheWait() throws {
    let build = try build("-g", "-O")
    for (function, line) in [("5first", 13), ("6second", 14)] {
      let parts = build.functions.filter { $0.name.contains("\(function)yyYaF") && $0.name.hasSuffix("_") }
      #expect(parts.count > 1)
      for part in parts {
        let result = Symbolizer().symbolize([part.address + Self.bias], modules: [build.module])
        let frame = try #require(result.symbols[part.address + Self.bias]?.last)
        #expect(frame.line == line && frame.symbol == "Fixture.\(function.dropFirst())()", "\(part.name)")
      }
    }
  }

  @Test func namesOfThePartsBefore() {
    #expect(ResumedLines.names(before: "$s3App4waityyYaFTY0_") == ["$s3App4waityyYaF"])
    #expect(ResumedLines.names(before: "$s3App4waityyYaFTQ2_") == ["$s3App4waityyYaFTY1_", "$s3App4waityyYaFTQ1_"])
    for other in ["$s3App4waityyYaF", "$s3App4waityyYaFTATQ0_", "$s3App4waityyYaFTQ_", "main_"] {
      #expect(ResumedLines.names(before: other) == nil, "\(other)")
    }
  }

  @Test(arguments: ["-Onone", "-O"])
  func namesClosuresByTheirForwarder(_ optimization: String) throws {
    let build = try build("-g", optimization)
    let forwarder = try #require(
      build.functions.first { $0.name.contains("7closure") && ForwarderLines.closure(ofForwarder: $0.name) != nil })
    let result = Symbolizer().symbolize([forwarder.address + Self.bias], modules: [build.module])
    let frame = try #require(result.symbols[forwarder.address + Self.bias]?.last)
    #expect(frame.symbol == "closure #1 in Fixture.closure()")
    #expect(try frame.file == Self.file.get())
    #expect(frame.line == 7)
  }

  /// Equal closures are one function without a line: the place where each is made is near.
  @Test func equalClosuresHaveTheLinesOfTheirMakers() throws {
    let build = try build("-g", "-O")
    for (type, line) in [("3OneC5start", 11), ("3TwoC5start", 12)] {
      let forwarders = build.functions.filter {
        $0.name.contains(type) && ForwarderLines.closure(ofForwarder: $0.name) != nil
      }
      try #require(!forwarders.isEmpty)
      let addresses = forwarders.map { $0.address + Self.bias }
      let result = Symbolizer().symbolize(addresses, modules: [build.module])
      #expect(addresses.contains { result.symbols[$0]?.last?.line == line }, "\(type)")
    }
  }

  @Test func namesWhatClosuresCapture() throws {
    let build = try build("-g", "-Onone")
    let forwarders = build.functions.filter { ForwarderLines.closure(ofForwarder: $0.name) != nil }
    let addresses = Set(forwarders.map { $0.address + Self.bias })
    let result = Symbolizer().symbolize(addresses.sorted(), modules: [build.module], closures: addresses)
    let names = Set(result.symbols.variables.values)
    #expect(names.contains(["owner"]))
    #expect(names.contains([CapturedNames.structSelf]))
  }

  /// Where code belongs to no line, that of the code near it is a better answer than none.
  @Test func codeOfLineZeroHasALineNear() throws {
    try sandbox.write(
      """
      #line 7
      int inner(int a) { return a + 1; }
      int outer(int a) {
      #line 9
        a *= inner(a);
      #line 0
        a ^= inner(a + 1);
      #line 11
        return a;
      }
      int main(int argc, char **argv) { return outer(argc); }
      """, to: "zero.c")
    let program = sandbox.path("zero")
    let result = try sandbox.command(["clang", "-g", "-O0", sandbox.path("zero.c"), "-o", program])
    try #require(result.status == 0, "\(result.error)")
    let file = try #require(try ELFFile(path: program))
    let end = try #require(file.segments.map { $0.address + $0.memorySize }.max())
    let module = Snapshot.Module(
      low: Self.bias, high: Self.bias + end, bias: Self.bias, path: program, buildID: file.buildID)
    let function = try #require(
      (0..<end).lazy.compactMap { file.functions().function(at: $0) }.first { $0.name == "outer" })
    let addresses = (function.address..<function.address + function.size).map { $0 + Self.bias }
    let frames = Symbolizer().symbolize(addresses, modules: [module]).symbols.frames.values.joined()
    #expect(frames.contains { $0.isNear && [9, 11].contains($0.line) })
    #expect(frames.allSatisfy { $0.line != nil })
  }

  @Test func followsTheRecordsOfAsyncFunctions() throws {
    let build = try build("-g", "-Onone")
    let listing = try sandbox.command(["llvm-nm", build.module.path]).out
    let record = try #require(listing.split(separator: "\n").first { $0.contains("5waits") && $0.hasSuffix("Tu") })
    let address = try #require(UInt64(record.split(separator: " ")[0], radix: 16))
    let result = Symbolizer().symbolize([address + Self.bias], modules: [build.module])
    #expect(result.symbols[address + Self.bias]?.last?.symbol == "Fixture.waits()")
    #expect(result.symbols[address + Self.bias]?.last?.line == 5)
  }

  @Test func fallsBackToSymbolTables() throws {
    let build = try build("-g", "-Onone")
    let without = Symbolizer(environment: { $0 == "UNDEAD_SYMBOLIZER" ? "/no/such/symbolizer" : nil })
    let frames = try frames(of: "Fixture.outer(_:)", in: build, symbolizer: without)
    #expect(frames.first?.first?.symbol == "Fixture.outer(_:)")
    #expect(frames.first?.first?.line == nil)
    let note = without.symbolize([Self.bias + build.functions[0].address], modules: [build.module]).notes.first
    #expect(note?.contains("UNDEAD_SYMBOLIZER=/no/such/symbolizer") == true)
  }

  @Test func continuesAfterACrashOfTheSymbolizer() throws {
    let build = try build("-g", "-Onone")
    let real = try #require(SymbolizerTool.find { ProcessInfo.processInfo.environment[$0] })
    // Answers two requests of each run, and dies of the third.
    try sandbox.write(
      """
      #!/bin/sh
      for turn in 1 2; do read -r request || exit; printf '%s\\n' "$request" | '\(real.path)' "$@"; done
      read -r request && kill -SEGV $$

      """, to: "crashing", mode: 0o755)
    let path = sandbox.path("crashing")
    let addresses = build.functions.prefix(6).map { $0.address + Self.bias }
    let result = Symbolizer(environment: { $0 == "UNDEAD_SYMBOLIZER" ? path : nil })
      .symbolize(addresses, modules: [build.module])
    #expect(result.notes.contains { $0.contains("2 of 6") })
    #expect(addresses.allSatisfy { result.symbols[$0]?.last?.symbol.contains("+0x") == false })
  }

  @Test func asksAgainWhatHasEndedBetweenTwoQuestions() throws {
    let build = try build("-g", "-Onone")
    let real = try #require(SymbolizerTool.find { ProcessInfo.processInfo.environment[$0] })
    try sandbox.write(
      "#!/bin/sh\nread -r request && printf '%s\\n' \"$request\" | '\(real.path)' \"$@\"\n", to: "once", mode: 0o755)
    let path = sandbox.path("once")
    let tool = try #require(SymbolizerTool.find { $0 == "UNDEAD_SYMBOLIZER" ? path : nil })
    for function in build.functions.filter({ $0.name.hasPrefix("$s") }).prefix(3) {
      let answers = tool.answers(to: [.init(file: build.module.path, address: function.address)])
      #expect(answers.locations.first??.last?.function == function.name)
    }
  }

  @Test func believesNoAnswerToAnotherQuestion() throws {
    let build = try build("-g", "-Onone")
    let answer = #"{"Address":"0x7","Symbol":[{"FunctionName":"main","FileName":"/app/main.swift","Line":7}]}"#
    try sandbox.write("#!/bin/sh\nwhile read -r request; do echo '\(answer)'; done\n", to: "wrong", mode: 0o755)
    let path = sandbox.path("wrong")
    let address = build.functions[0].address + Self.bias
    let result = Symbolizer(environment: { $0 == "UNDEAD_SYMBOLIZER" ? path : nil })
      .symbolize([address], modules: [build.module])
    #expect(result.symbols[address]?.last?.line == nil)
    #expect(result.symbols[address]?.last?.symbol == Demangler.readable(build.functions[0].name))
  }

  /// To the symbolizer the rest of such a path is a question of its own.
  @Test(arguments: ["a\nb", "a\r\nb", "a\"\u{301}b"])
  func asksNothingOfPathsThatWouldBeTwoQuestions(_ name: String) throws {
    var (module, functions) = try build("-g", "-Onone")
    let copy = sandbox.path(name)
    try FileManager.default.copyItem(atPath: module.path, toPath: copy)
    module.path = copy
    let asked = sandbox.path("asked")
    try sandbox.write("#!/bin/sh\nexec cat >'\(asked)'\n", to: "listening", mode: 0o755)
    let variables = ["UNDEAD_SYMBOLIZER": sandbox.path("listening"), "UNDEAD_SYMBOLIZER_TIMEOUT": "1"]
    let address = functions[0].address + Self.bias
    let result = Symbolizer(environment: { variables[$0] }).symbolize([address], modules: [module])
    #expect(result.symbols[address]?.last?.symbol == Demangler.readable(functions[0].name))
    #expect(!FileManager.default.fileExists(atPath: asked))
  }

  @Test func goesOnWithoutASymbolizerThatHangs() throws {
    let build = try build("-g", "-Onone")
    let answer = #"{"Symbol":[{"FunctionName":"main","FileName":"/app/main.swift","Line":7}]}"#
    // Tells who it is, answers two requests, then waits.
    try sandbox.write(
      "#!/bin/sh\necho $$ >>'\(sandbox.path("runs"))'\necho '\(answer)'\necho '\(answer)'\nexec sleep 1000\n",
      to: "hanging", mode: 0o755)
    let variables = ["UNDEAD_SYMBOLIZER": sandbox.path("hanging"), "UNDEAD_SYMBOLIZER_TIMEOUT": "5"]
    let addresses = build.functions.prefix(6).map { $0.address + Self.bias }
    let result = Symbolizer(environment: { variables[$0] }).symbolize(addresses, modules: [build.module])
    #expect(
      result.notes == [
        "no files and lines for 4 of 6 code addresses: '\(sandbox.path("hanging"))' said nothing for 5 seconds; "
          + "give it longer with UNDEAD_SYMBOLIZER_TIMEOUT, or try another one with UNDEAD_SYMBOLIZER"
      ])
    #expect(addresses.map { result.symbols[$0]?.last?.line } == [7, 7, nil, nil, nil, nil])
    #expect(addresses.allSatisfy { result.symbols[$0]?.last?.symbol.contains("+0x") == false })
    let runs = try String(contentsOfFile: sandbox.path("runs"), encoding: .utf8).split(separator: "\n")
    #expect(runs.count == 1, "nobody waits for it again")
    #expect(runs.allSatisfy { kill(pid_t($0) ?? 0, 0) == -1 && errno == ESRCH }, "it was ended, and waited for")
  }

  @Test func givesOffsetsInFilesThatChanged() throws {
    var (module, functions) = try build("-g", "-Onone")
    let address = functions[0].address + Self.bias
    module.buildID = "0123"
    let changed = Symbolizer().symbolize([address], modules: [module])
    #expect(changed.symbols[address]?.map(\.symbol) == ["fixture+0x\(String(functions[0].address, radix: 16))"])
    #expect(changed.notes.first?.contains("built anew") == true)
    module.path = sandbox.path("fixture")
    let missing = Symbolizer().symbolize([address], modules: [module])
    #expect(missing.notes.first?.contains("No such file") == true)
    #expect(missing.symbols[address]?.first?.line == nil)
  }

  @Test func keepsTheNamesThatASnapshotBrings() {
    var snapshot = Snapshot()
    snapshot.frames = [0x1001]
    snapshot.symbols[0x1000] = [Frame(symbol: "App.f()", file: "/a.swift", line: 1, module: "App")]
    let result = Symbolizer().symbolize(snapshot)
    #expect(result.symbols == snapshot.symbols)
    #expect(result.notes.isEmpty)
  }

  @Test func namesWhatIsInNoModuleByItsAddress() {
    let result = Symbolizer().symbolize([0xABCD], modules: [])
    #expect(result.symbols[0xABCD]?.map(\.symbol) == ["0xabcd"])
  }
}
