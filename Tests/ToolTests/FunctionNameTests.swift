import Testing

@testable import UndeadReport

/// Names as a programmer would write them.
@Suite(.timeLimit(.minutes(20))) struct FunctionNameTests {
  @Test(arguments: [
    ("App.Owner.start() -> ()", "App.Owner.start()"),
    ("App.Owner.greet(name: Swift.String, _: Swift.Int) -> Swift.String", "App.Owner.greet(name:_:)"),
    ("App.f(Swift.Int, (Swift.Int, b: Swift.Int) -> ()) -> ()", "App.f(_:_:)"),
    (
      "App.Owner.gen<A where A: Swift.Collection>(_: A, by: (A.Element) -> Swift.Int) -> Swift.Array<Swift.Int>",
      "App.Owner.gen(_:by:)"
    ),
    (
      "closure #1 () -> () in closure #2 (Swift.Int) -> () in App.Owner.start() -> ()",
      "closure #1 in closure #2 in App.Owner.start()"
    ),
    (
      "partial apply forwarder for closure #1 () -> () in App.f() -> () with unmangled suffix \".8\"",
      "closure #1 in App.f()"
    ),
    (
      "(2) suspend resume partial function for App.Owner.load(Swift.Int) async throws -> Swift.Int",
      "App.Owner.load(_:)"
    ),
    (
      "(1) await resume partial function for function signature specialization <Arg[0] = Dead> of static App.M.main() async -> ()",
      "static App.M.main()"
    ),
    (
      "function signature specialization <Arg[0] = Owned To Guaranteed> of generic specialization <Swift.Int> of App.S.init(a: A) -> App.S<A>",
      "App.S.init(a:)"
    ),
    ("App.(Priv in _2BEF9C0BA08E42E259550B030F9D0E12).go() -> () -> App.Owner", "App.Priv.go()"),
    (
      "(extension in App):Swift.Array<A where A == App.Owner>.mine(Swift.Int) -> ()",
      "(extension in App):Swift.Array.mine(_:)"
    ),
    ("local #1 (Swift.Int) -> App.Owner in App.go() -> ()", "local(_:) in App.go()"),
    ("static App.Owner.== infix(App.Owner, App.Owner) -> Swift.Bool", "static App.Owner.==(_:_:)"),
    ("static App.V.< infix(App.V, App.V) -> Swift.Bool", "static App.V.<(_:_:)"),
    ("App.Owner.timer.getter : Swift.Optional<() -> ()>", "App.Owner.timer.getter"),
    ("App.Owner.subscript.getter : (_: Swift.Int, key: Swift.String) -> Swift.Int", "App.Owner.subscript.getter"),
    ("App.Owner.__deallocating_deinit", "App.Owner.deinit"),
    ("App.Owner.__allocating_init(a: Swift.Int) throws -> App.Owner", "App.Owner.__allocating_init(a:)"),
    (
      "variable initialization expression of App.Owner.lz : Swift.Int",
      "variable initialization expression of App.Owner.lz"
    ),
    (
      "default argument 1 of App.Owner.init(a: Swift.Int, b: Swift.String) -> App.Owner",
      "default argument 1 of App.Owner.init(a:b:)"
    ),
    (
      "protocol witness for App.Greeter.greet(name: Swift.String) -> () in conformance App.Owner : App.Greeter in App",
      "protocol witness for App.Greeter.greet(name:)"
    ),
    (
      "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping () -> (@out ())",
      "reabstraction thunk"
    ),
  ])
  func isShort(_ full: String, _ short: String) {
    #expect(FunctionName.simplified(full) == short)
  }

  @Test(arguments: [
    "", "(", "((", "closure #", "a in ", " in ", "generic specialization <", "x(", "f)(", "(3) ", "<>", "a < b",
  ])
  func survivesOddText(_ text: String) {
    _ = FunctionName.simplified(text)
  }

  @Test func readsMangledNames() {
    #expect(Demangler.readable("$s3App5OwnerC5startyyFyycfU_TA") == "closure #1 in App.Owner.start()")
    #expect(Demangler.readable("$s3App5OwnerC3asyyS2iYaKFTQ0_") == "App.Owner.asy(_:)")
    #expect(Demangler.readable("main") == "main")
    #expect(Demangler.readable("$snonsense") == "$snonsense")
  }
}
