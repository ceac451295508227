import UndeadReport

/// A finding before its code has names.
struct HeapFindingDraft {
  var kind: HeapFinding.Kind
  var title: String
  var objects: Int
  var bytes: UInt64
  var usedBytes: UInt64?
  /// One of the objects, the one to report.
  var block: Int
  /// Type that is shown; nil for that of the block.
  var type: String?
  var container: HeapLocations.Name?
  /// Index of STACKS where the tasks wait.
  var suspended = Snapshot.none
  /// Function of the closure that keeps the objects; 0 if none does.
  var closure: UInt64 = 0
  var advice: String
}
