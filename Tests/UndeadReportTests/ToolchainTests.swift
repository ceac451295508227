import Testing

@testable import UndeadReport

/// Leaks of the toolchain's own objects: what the program cannot help is known, and nobody is asked to change Foundation.
@Suite struct ToolchainTests {
  private typealias Function = SyntheticHeap.Function

  private static func made(by function: String, in library: String = "libFoundation.so") -> [Function] {
    [
      .system("swift_allocObject"), .system("_CFRuntimeCreateInstance", "libFoundation.so"), .system(function, library),
      .app("App.work()", "/app/main.swift", 7), Scenario.main,
    ]
  }

  @Test(arguments: [
    ("CFRunArray", "Foundation.NSAttributedString.__allocating_init(string: Swift.String)"),
    ("Foundation._NSCFString", "FoundationXML.XMLParser.parse() -> Swift.Bool"),
    ("Foundation._NSCFArray", "static Foundation.Bundle.allBundles.getter : [Foundation.Bundle]"),
  ])
  func whatFoundationForgetsIsKnown(type: String, maker: String) throws {
    var heap = SyntheticHeap()
    let lost = heap.toolchain(type, at: Self.made(by: maker))
    heap.link(lost, "", heap.toolchain("Foundation.NSString", at: Self.made(by: maker)))
    let report = try heap.report()
    #expect(report.leaks.isEmpty && report.knownLeaks.count == 1)
  }

  /// What the program makes while a function of Foundation calls it is not that function's.
  @Test(arguments: [
    ("Foundation._NSCFString", "FoundationXML.XMLParser.parse() -> Swift.Bool"),
    ("Foundation._NSCFArray", "static Foundation.Bundle.allBundles.getter : [Foundation.Bundle]"),
  ])
  func whatTheProgramMakesWhenCalledIsItsOwn(type: String, caller: String) throws {
    var heap = SyntheticHeap()
    let calledBack: [Function] = [
      .system("swift_allocObject"), .system("_CFRuntimeCreateInstance", "libFoundation.so"),
      .app("App.Delegate.found(text:)", "/app/main.swift", 9),
    ]
    _ = heap.toolchain(type, at: calledBack + Self.made(by: caller).dropFirst(2))
    let report = try heap.report()
    #expect(report.knownLeaks.isEmpty && report.leaks.count == 1)
  }

  /// A string that the program made and retained by hand is its own leak.
  @Test func aStringOfSomebodyElseIsTold() throws {
    var heap = SyntheticHeap()
    _ = heap.toolchain("Foundation._NSCFString", at: Self.made(by: "Foundation.NSString.appending(Swift.String)"))
    let report = try heap.report()
    #expect(report.knownLeaks.isEmpty)
    #expect(
      report.leaks.first?.advice
        == "nothing refers to this object, which Foundation.NSString.appending(Swift.String) made: either "
        + "Foundation.NSString.appending(Swift.String) forgot to release it, or it was retained by hand "
        + "(Unmanaged.passRetained) and never released")
  }

  /// Whoever asks for an object has made it.
  @Test func anObjectThatTheProgramMadeItselfIsItsOwn() throws {
    var heap = SyntheticHeap()
    let maker = "Foundation.NSDate.__allocating_init() -> Foundation.NSDate"
    _ = heap.toolchain("Foundation.NSDate", at: Self.made(by: maker))
    #expect(try heap.report().leaks.first?.advice?.contains("or Unmanaged.passRetained has no release()") ?? false)
  }

  @Test func objectsOfTheProgramInAttributesAreTold() throws {
    var heap = SyntheticHeap()
    let attributes = heap.toolchain(
      "CFRunArray", at: Self.made(by: "Foundation.NSAttributedString.__allocating_init(string: Swift.String)"))
    heap.link(attributes, "", heap.object("App.Link"))
    let report = try heap.report()
    #expect(report.knownLeaks.isEmpty)
    #expect(report.leaks.first?.advice?.hasPrefix("Foundation on Linux never releases the attributes") ?? false)
  }

  @Test(arguments: [false, true])
  func documentsOfXMLHoldThemselves(holdsProgram: Bool) throws {
    var heap = SyntheticHeap()
    let document = heap.toolchain("FoundationXML.XMLDocument", at: Scenario.site("App.parse()", 5))
    let element = heap.toolchain("FoundationXML.XMLElement", at: Scenario.site("App.parse()", 5))
    heap.link(document, "_childNodes[element]", element)
    heap.link(element, "_xmlDocument", document)
    if holdsProgram { heap.link(element, "_objectValue", heap.object("App.Value")) }
    let report = try heap.report()
    #expect(report.knownLeaks.count == (holdsProgram ? 0 : 1) && report.leaks.count == (holdsProgram ? 1 : 0))
    // Not that somebody should declare a field of Foundation `weak`.
    #expect(report.leaks.allSatisfy { $0.advice?.hasPrefix("these objects are the toolchain's") ?? false })
  }

  /// They depend on each other because the program said so.
  @Test func aCycleThatTheProgramMadeOfFoundationsObjectsIsTold() throws {
    var heap = SyntheticHeap()
    let first = heap.toolchain("Foundation.BlockOperation", at: Scenario.site("App.plan()", 5))
    let second = heap.toolchain("Foundation.BlockOperation", at: Scenario.site("App.plan()", 6))
    heap.link(first, "__dependencies[0]", second)
    heap.link(second, "__dependencies[0]", first)
    let report = try heap.report()
    #expect(report.knownLeaks.isEmpty)
    #expect(report.leaks.first?.advice?.contains("undo what linked them") ?? false)
  }

  @Test func functionsOfEachModuleAreTheToolchains() {
    func isToolchain(_ symbol: String) -> Bool {
      SymbolText.isToolchain(
        Frame(symbol: symbol, file: nil, line: nil, module: "app", offset: 0, inlined: false, system: false))
    }
    for module in ["Swift", "Foundation", "FoundationXML", "FoundationNetworking", "Observation", "Testing"] {
      #expect(isToolchain("\(module).Thing.work() -> ()"))
      #expect(isToolchain("static \(module).Thing.work() -> ()"))
      #expect(ToolchainModules.declare("\(module).Thing"))
    }
    for module in ["App", "FoundationTools", "SwiftUI", "Swifty", "TestingTools"] {
      #expect(!isToolchain("\(module).Thing.work() -> ()"))
      #expect(!ToolchainModules.declare("\(module).Thing"))
    }
  }
}
