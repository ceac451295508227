/// One leak: a component that nothing else holds.
struct LeakInstance {
  /// The object that the report starts from.
  var root: Int
  /// Edges of the cycle from `root` back to it; empty if nothing refers to `root`.
  var cycle: [Int]
  var component: Int
  /// The same for leaks of one kind, in every run.
  var signature = StableHash()
}
