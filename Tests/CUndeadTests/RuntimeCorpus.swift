// One shape a line: how it is made, its name, its words. Offsets are the ABI of the toolchain: when one moves, so must
// runtime/abi.h or what reads it.

private let item = Item()

let runtimeCorpus: [Shape] = [
  Shape(
    "Strong()", name: "CUndeadTests.Strong",
    [
      16: .init("item"),
      24: .init("optional", type: "Swift.Optional<CUndeadTests.Item>"),
      32: .init("twice", type: "Swift.Optional<Swift.Optional<CUndeadTests.Item>>"),
    ]
  ) { describe(opaque(Strong())) },
  Shape(
    "Weak(item)", name: "CUndeadTests.Weak", skipped: [16, 24, 40, 48],
    [
      40: .init("owner", "unowned"),
      48: .init("optionalOwner", type: "Swift.Optional<CUndeadTests.Item>", "unowned"),
      56: .init("unsafeOwner", "unmanaged"),
      64: .init("unmanaged", type: "Swift.Unmanaged<CUndeadTests.Item>", "unmanaged"),
    ]
  ) { describe(opaque(Weak(item))) },
  Shape(
    "Derived()", name: "CUndeadTests.Derived", skipped: [24, 40],
    [
      16: .init("inherited"),
      32: .init("own"),
    ]
  ) { describe(opaque(Derived())) },
  Shape(
    "Structs(item)", name: "CUndeadTests.Structs", skipped: [88, 96],
    [
      16: .init("pair.item"),
      32: .init("large.item"),
      72: .init("wrapped.value.value", type: "Swift.Optional<CUndeadTests.Item>"),
      96: .init("references.owner", "unowned"),
      104: .init("references.unsafeItem", "unmanaged"),
    ]
  ) { describe(opaque(Structs(item))) },
  Shape(
    "Tuples(item)", name: "CUndeadTests.Tuples", skipped: [80, 88],
    [
      24: .init("tuple.second"),
      32: .init("tuple.2.item"),
      48: .init("tuple.3.0"),
      56: .init("tuple.3.inner"),
      88: .init("weakTuple.1.owner", "unowned"),
      96: .init("weakTuple.1.unsafeItem", "unmanaged"),
    ]
  ) { describe(opaque(Tuples(item))) },
  Shape(
    "Enums(item)", name: "CUndeadTests.Enums",
    [
      56: .init("loading.loading"),
      96: .init("failed.failed.0.item"),
      112: .init("failed.failed.1"),
      152: .init("sized.sized.2"),
      176: .init("done.done", type: "Any"),
      216: .init("choice.something.item"),
      232: .init("optionalState.loading"),
    ]
  ) { describe(opaque(Enums(item))) },
  Shape(
    "WeakEnums(item)", name: "CUndeadTests.WeakEnums", skipped: [24, 32, 56, 64],
    [
      32: .init("optional.owner", "unowned"),
      40: .init("optional.unsafeItem", "unmanaged"),
      64: .init("holder.references.owner", "unowned"),
      72: .init("holder.references.unsafeItem", "unmanaged"),
      80: .init("ambiguous.strong.0"),
      88: .init("ambiguous.strong.1"),
      96: .init("ambiguous.strong.2"),
    ]
  ) { describe(opaque(WeakEnums(item))) },
  Shape(
    "Existentials(item)", name: "CUndeadTests.Existentials",
    [
      16: .init("small.item"),
      56: .init("large", type: "CUndeadTests.Animal", to: "box of CUndeadTests.Large"),
      96: .init("object", type: "CUndeadTests.Animal"),
      144: .init("any.1"),
      168: .init("constrained.item"),
      208: .init("delegate", type: "CUndeadTests.ItemDelegate"),
      224: .init("anyObject", type: "Swift.AnyObject"),
      232: .init("error", type: "Swift.Error", to: "CUndeadTests.ItemError"),
      240: .init("optional.item"),
    ]
  ) { describe(opaque(Existentials(item))) },
  Shape(
    "Collections(item)", name: "CUndeadTests.Collections",
    [
      16: .init(
        "array", type: "Swift.Array<CUndeadTests.Pair>", to: "Swift._ContiguousArrayStorage<CUndeadTests.Pair>"),
      24: .init(
        "objects", type: "Swift.Array<CUndeadTests.Item>", to: "Swift._ContiguousArrayStorage<Swift.AnyObject>"),
      32: .init(
        "dictionary", type: "Swift.Dictionary<Swift.String, CUndeadTests.Pair>",
        to: "Swift._DictionaryStorage<Swift.String, CUndeadTests.Pair>"),
      40: .init("set", type: "Swift.Set<CUndeadTests.ItemKey>", to: "Swift._SetStorage<CUndeadTests.ItemKey>"),
      48: .init("result.success"),
      64: .init(
        "indirect.link", type: "(CUndeadTests.Item, CUndeadTests.Chain)",
        to: "box of (CUndeadTests.Item, CUndeadTests.Chain)"),
      80: .init("text", type: "Swift.String", to: "Swift.__StringStorage"),
    ]
  ) { describe(opaque(Collections(item))) },
  Shape(
    "makeClosures()", name: "CUndeadTests.Closures",
    [
      24: .init(
        "plain", type: "Swift.Optional<() -> ()>", to: "closure context (captures CUndeadTests.Pair, CUndeadTests.Item)"
      ),
      40: .init(
        "lazyClosure (lazy)", type: "Swift.Optional<() -> ()>",
        to: "closure context (captures unowned CUndeadTests.Closures)"),
      48: .init("lazyItem (lazy)", type: "Swift.Optional<CUndeadTests.Item>"),
      64: .init("required", type: "(Swift.Int) -> Swift.Int"),
    ]
  ) { describe(opaque(makeClosures())) },
  Shape(
    "GenericBase(Pair(item: item), item)",
    name: "CUndeadTests.GenericBase<CUndeadTests.Pair, CUndeadTests.Item>", skipped: [32],
    [
      16: .init("value.item"),
      40: .init("wrapped.value.item"),
    ]
  ) { describe(opaque(GenericBase(Pair(item: item), item))) },
  Shape(
    "Specialized(Pair(item: item), item)", name: "CUndeadTests.Specialized", skipped: [32],
    [
      16: .init("value.item"),
      40: .init("wrapped.value.item"),
      56: .init("extra"),
    ]
  ) { describe(opaque(Specialized(Pair(item: item), item))) },
  Shape(
    "Counter()", name: "CUndeadTests.Counter", skipped: [120],
    [
      112: .init("item")
    ]
  ) { describe(opaque(Counter())) },
  Shape(
    "Model()", name: "CUndeadTests.Model", skipped: [24],
    [
      16: .init("item"),
      32: .init(
        "_$observationRegistrar", type: "Observation.ObservationRegistrar",
        to: "Observation.ObservationRegistrar.Extent"),
    ]
  ) { describe(opaque(Model())) },
  Shape(
    "WrapperUser()", name: "CUndeadTests.WrapperUser", skipped: [16],
    [
      24: .init("_child.wrappedValue")
    ]
  ) { describe(opaque(WrapperUser())) },
  Shape(
    "makeBuffer()", name: "CUndeadTests.Buffer",
    [
      24: .init("[0].item"),
      40: .init("[1].item"),
    ]
  ) { describe(opaque(makeBuffer())) },
  Shape(
    "Locked()", name: "CUndeadTests.Locked",
    [
      16: .init("before"),
      32: .init("mutex", type: "Synchronization.Mutex<CUndeadTests.Item>"),
      40: .init("after"),
    ]
  ) { describe(opaque(Locked())) },
  Shape(
    "Inline(item)", name: "CUndeadTests.Inline",
    [
      16: .init("fixed[0].item"),
      32: .init("fixed[1].item"),
    ]
  ) { describe(opaque(Inline(item))) },
  Shape(
    "makeHidden()", name: "CUndeadTests.Hidden",
    [
      16: .init("item")
    ]
  ) { describe(opaque(makeHidden())) },
  Shape(
    "makeLocal()", name: "CUndeadTests.Local",
    [
      16: .init("item")
    ]
  ) { describe(opaque(makeLocal())) },
  Shape(
    "Namespace.Nested()", name: "CUndeadTests.Namespace.Nested",
    [
      16: .init("item")
    ]
  ) { describe(opaque(Namespace.Nested())) },
  Shape(
    "[Int].OfArray()", name: "(extension in CUndeadTests):Swift.Array<Swift.Int>.OfArray",
    [
      16: .init("item")
    ]
  ) { describe(opaque([Int].OfArray())) },
  Shape(
    "closureOverTwo(item, Pair(item: item))",
    name: "closure context (captures CUndeadTests.Item, CUndeadTests.Pair)",
    [
      16: .init("captured 0"),
      24: .init("captured 1.item"),
    ]
  ) { describeContext(of: closureOverTwo(item, Pair(item: item))) },
  Shape(
    "closureOverSmallValues(item, 1, true)",
    name: "closure context (captures Swift.Int8, CUndeadTests.Item, Swift.Bool)",
    [
      24: .init("captured 1")
    ]
  ) { describeContext(of: closureOverSmallValues(item, 1, true)) },
  Shape(
    "closureOverWeakAndStrong(item, item)",
    name: "closure context (captures a variable, CUndeadTests.Item)",
    [
      16: .init("captured variable 0", type: "", to: "box of weak Swift.Optional<CUndeadTests.Item>"),
      24: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverWeakAndStrong(item, item)) },
  Shape(
    "closureOverUnowned(item, item)",
    name: "closure context (captures unowned CUndeadTests.Item, unowned(unsafe) CUndeadTests.Item)", skipped: [16],
    [
      16: .init("captured 0", "unowned"),
      24: .init("captured 1", "unmanaged"),
    ]
  ) { describeContext(of: closureOverUnowned(item, item)) },
  Shape(
    "closureOverVariables(item)",
    name: "closure context (captures a variable, a variable, CUndeadTests.Item)",
    [
      16: .init("captured variable 0", type: "", to: "box of CUndeadTests.Pair"),
      24: .init("captured variable 1", type: "", to: "box of Swift.Int"),
      32: .init("captured 2"),
    ]
  ) { describeContext(of: closureOverVariables(item)) },
  Shape(
    "closureOverClosure(item)", name: "closure context (captures a function, CUndeadTests.Item)",
    [
      24: .init("captured 0", type: "", to: "closure context (captures CUndeadTests.Item, CUndeadTests.Pair)"),
      32: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverClosure(item)) },
  Shape(
    "closureOverReferences(item)",
    name: "closure context (captures CUndeadTests.References, CUndeadTests.Item)", skipped: [24, 32],
    [
      32: .init("captured 0.owner", "unowned"),
      40: .init("captured 0.unsafeItem", "unmanaged"),
      48: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverReferences(item)) },
  Shape(
    "closureOverExistential(item)",
    name: "closure context (captures CUndeadTests.Animal, CUndeadTests.Item)",
    [
      16: .init("captured 0.item"),
      56: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverExistential(item)) },
  Shape(
    "closureOverEnum(item)",
    name: "closure context (captures CUndeadTests.State, CUndeadTests.Item)",
    [
      16: .init("captured 0.loading"),
      56: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverEnum(item)) },
  Shape(
    "closureOverGeneric(Pair(item: item), item)",
    name: "closure context (captures CUndeadTests.Pair, CUndeadTests.Item)",
    [
      24: .init("captured 0.item"),
      40: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverGeneric(Pair(item: item), item)) },
  Shape(
    "closureOverGeneric(item, item)",
    name: "closure context (captures CUndeadTests.Item, CUndeadTests.Item)",
    [
      24: .init("captured 0"),
      32: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverGeneric(item, item)) },
  Shape(
    "closureOverGeneric(Int8(1), item)",
    name: "closure context (captures Swift.Int8, CUndeadTests.Item)",
    [
      32: .init("captured 1")
    ]
  ) { describeContext(of: closureOverGeneric(Int8(1), item)) },
  Shape(
    "closureOverGenericObject(GenericBase(1, item), item)",
    name: "closure context (captures CUndeadTests.GenericBase, CUndeadTests.Item)",
    [
      16: .init("captured 0", type: "", to: "CUndeadTests.GenericBase<Swift.Int, CUndeadTests.Item>"),
      24: .init("captured 1"),
    ]
  ) { describeContext(of: closureOverGenericObject(GenericBase(1, item), item)) },
  Shape(
    "[item, item]", name: "Swift._ContiguousArrayStorage<Swift.AnyObject>",
    [
      32: .init("[0]", type: "Swift.AnyObject"),
      40: .init("[1]", type: "Swift.AnyObject"),
    ]
  ) { describeStorage(of: [item, item]) },
  Shape(
    "[nil, Large(item: item)]",
    name: "Swift._ContiguousArrayStorage<Swift.Optional<CUndeadTests.Large>>",
    [
      72: .init("[1].item")
    ]
  ) { describeStorage(of: [nil, Large(item: item)]) },
  Shape(
    "[References(owner: item, unsafeItem: item)]",
    name: "Swift._ContiguousArrayStorage<CUndeadTests.References>",
    [
      48: .init("[0].owner", "unowned"),
      56: .init("[0].unsafeItem", "unmanaged"),
    ]
  ) { describeStorage(of: [References(owner: item, unsafeItem: item)]) },
  Shape(
    "ContiguousArray([State.loading(item), .idle, .failed(Pair(item: item), item)])",
    name: "Swift._ContiguousArrayStorage<CUndeadTests.State>",
    [
      32: .init("[0].loading"),
      112: .init("[2].failed.0.item"),
      128: .init("[2].failed.1"),
    ]
  ) { describeStorage(of: ContiguousArray([State.loading(item), .idle, .failed(Pair(item: item), item)])) },
]
