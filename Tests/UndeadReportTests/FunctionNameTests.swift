import Testing
import UndeadTestSupport

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

  /// Manglings of Swift 6.3 of each kind of declaration: the short name, and the type that the function is a member of.
  @Test(arguments: [
    // Operators that look like brackets; labels that look like operators.
    ("$s6Sample2OpV2ssopyyACFZ", "static Sample.Op.--(_:)", "Sample.Op"),
    ("$s6Sample2OpV3legoiySbAC_ACtFZ", "static Sample.Op.<=>(_:_:)", "Sample.Op"),
    ("$s6Sample2OpV3zzloiySiAC_ACtFZ", "static Sample.Op...<(_:_:)", "Sample.Op"),
    ("$s6Sample6prefixAB5infix7postfixSiSS_SiSaySiGtF", "Sample.prefix(prefix:infix:postfix:)", "Sample"),
    // Key paths, property wrappers, observers, lazy ones.
    ("$s6Sample3BoxC13dynamicMemberqd__s7KeyPathCyxqd__G_tcluig", "Sample.Box.subscript.getter", "Sample.Box"),
    ("$s6Sample4BankC8$balanceAA7ClampedVySiGvg", "Sample.Bank.$balance.getter", "Sample.Bank"),
    (
      "$s6Sample4BankC8_balance33_5416112EB02C16DB67CFE59B935623A0LLAA7ClampedVySiGvpfi",
      "variable initialization expression of Sample.Bank._balance", "Sample.Bank"
    ),
    ("$s6Sample4ViewC5titleSSvW", "Sample.View.title.didset", "Sample.View"),
    (
      "$s6Sample4ViewC25$__lazy_storage_$_handler33_5416112EB02C16DB67CFE59B935623A0LLySicSgvpfi",
      "variable initialization expression of Sample.View.$__lazy_storage_$_handler", "Sample.View"
    ),
    // Actors, async functions and their parts, typed errors, closures, local functions.
    ("$s6Sample4BankC4move_2toS2i_ACYitYaScEYKFTY0_", "Sample.Bank.move(_:to:)", "Sample.Bank"),
    (
      "$s6Sample4BankC4move_2toS2i_ACYitYaScEYKFSiyYbcfU_", "closure #1 in Sample.Bank.move(_:to:)", "Sample.Bank"
    ),
    ("$s6Sample4BankC5startyyFyyYacfU_TY1_", "closure #1 in Sample.Bank.start()", "Sample.Bank"),
    ("$s6Sample4BankC4tick33_5416112EB02C16DB67CFE59B935623A0LLyyYaF", "Sample.Bank.tick()", "Sample.Bank"),
    (
      "$s6Sample4BankC4tick33_5416112EB02C16DB67CFE59B935623A0LLyyYaF6helperL_ySiycSiFSiycfU_",
      "closure #1 in helper(_:) in Sample.Bank.tick()", "Sample.Bank"
    ),
    (
      "$s6Sample4ViewC4name4thenACSS_ys6ResultOySis5Error_pGYaYbctcfcyyYacfU_TA",
      "closure #1 in Sample.View.init(name:then:)", "Sample.View"
    ),
    (
      "$s6Sample5OuterO6NestedO4DeepC3runyys24ReferenceWritableKeyPathCyAGSiGF6$deferL_yyF",
      "$defer() in Sample.Outer.Nested.Deep.run(_:)", "Sample.Outer.Nested.Deep"
    ),
    // Opaque types, parameter packs, ~Copyable, existential metatypes.
    ("$s6Sample4BankC4nameQryF", "Sample.Bank.name()", "Sample.Bank"),
    ("$s6Sample4pack_4lastxxQp_txxQp_q_tRvzr0_lF", "Sample.pack(_:last:)", "Sample"),
    ("$s6Sample4FileV5write_2atySays5UInt8VG_SitF", "Sample.File.write(_:at:)", "Sample.File"),
    ("$s6Sample4FileVfD", "Sample.File.deinit", "Sample.File"),
    ("$s6Sample4ViewC4makeyAA5Shape_pXpSizFZ", "static Sample.View.make(_:)", "Sample.View"),
    // Raw identifiers, code of macros, extensions with conditions and of nested types.
    (
      "$s6Sample5ModelC0045rawnamewithbracketsinit_bwaeeicGACBBndbazClEa1nSiycSi_tFSiycfU_",
      "closure #1 in Sample.Model.`raw\u{A0}name\u{A0}with\u{A0}(brackets)\u{A0}in\u{A0}it`(n:)", "Sample.Model"
    ),
    (
      "$s6Sample5ModelC21shouldNotifyObservers33_5416112EB02C16DB67CFE59B935623A0LLySbx_xtRlzCSQRzlF",
      "Sample.Model.shouldNotifyObservers(_:_:)", "Sample.Model"
    ),
    (
      "$sSD4KeysV6SampleSSRszrlE4area2ofSiqd___tYaKlFS2icfU_",
      "closure #1 in (extension in Sample):Swift.Dictionary.Keys.area(of:)", "Swift.Dictionary.Keys"
    ),
    (
      "$sSa6SampleSiRszlE5Inner33_5416112EB02C16DB67CFE59B935623A0LLV2go2inS2i_tF",
      "(extension in Sample):Swift.Array.Inner.go(in:)", "Swift.Array.Inner"
    ),
    (
      "$s6Sample5OuterO6NestedO4DeepC4deepAGSi_tcfC", "Sample.Outer.Nested.Deep.__allocating_init(deep:)",
      "Sample.Outer.Nested.Deep"
    ),
  ])
  func takesNamesApart(_ mangled: String, _ short: String, _ owner: String) throws {
    let full = try #require(Demangler.demangleSwift(mangled))
    #expect(FunctionName.simplified(full) == short)
    #expect(FunctionName.simplified(short) == short)
    for text in [full, short] {
      let name = FunctionName(text)
      #expect(name.owner.joined(separator: ".") == owner)
      #expect(name.module == "Sample")
    }
  }

  @Test func knowsWhatIsAroundAFunction() {
    #expect(FunctionName("closure #1 in helper(_:) in App.Owner.go()").inner == ["closure #1", "helper(_:)"])
    #expect(FunctionName("static (extension in App):(extension in Lib):Swift.Set.Index.f(a:)").extender == "App")
    #expect(
      FunctionName("static (extension in App):(extension in Lib):Swift.Set.Index.f(a:)").scope == "Swift.Set.Index.f")
    #expect(FunctionName("closure #1 @Swift.MainActor () -> () in App.f(a: Swift.Int) -> ()").scope == "App.f")
    #expect(FunctionName("main").module == nil)
    #expect(FunctionName("std::vector<a.b, c>::push_back(int const&)").module == nil)
    #expect(FunctionName("protocol witness for App.P.f() -> () in conformance App.A : App.P in App").path.last == "f")
    // The runtime leaves a bracket open.
    #expect(
      FunctionName.simplified(
        "function signature specialization <Arg[1] = [Closure Propagated : $s3App1fyyFSiycfU_, Argument Types : []> of App.g(_: () -> ()) -> ()"
      ) == "App.g(_:)")
  }

  /// Names of this program, which has those of the whole package: whatever they are, the parts of the short one are the same.
  @Test func readsWhateverTheCompilerMakes() throws {
    let file = try #require(try ELFFile(path: "/proc/self/exe"))
    let names = file.functionNames(containing: ["$s"]).sorted()
    for index in stride(from: 0, to: names.count, by: max(1, names.count / Thorough.count(500, of: 3000))) {
      guard let full = Demangler.demangleSwift(names[index]) else { continue }
      let short = FunctionName.simplified(full)
      let (one, other) = (FunctionName(full), FunctionName(short))
      #expect(!short.isEmpty, "\(names[index])")
      #expect(FunctionName.simplified(short) == short, "\(names[index])")
      #expect(one.module == other.module && one.owner == other.owner, "\(names[index])")
    }
  }

  @Test func readsMangledNames() {
    #expect(Demangler.readable("$s3App5OwnerC5startyyFyycfU_TA") == "closure #1 in App.Owner.start()")
    #expect(Demangler.readable("$s3App5OwnerC3asyyS2iYaKFTQ0_") == "App.Owner.asy(_:)")
    #expect(Demangler.readable("main") == "main")
    #expect(Demangler.readable("$snonsense") == "$snonsense")
  }
}
