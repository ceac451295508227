import UndeadReport
import UndeadSystem

/// Something in a heap that deserves attention, reported by itself.
package struct HeapFinding: Codable, Sendable, Equatable {
  /// What it is.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// Collections that hold most of their capacity empty.
    case emptyCapacity
    /// Large buffers of which only small slices are in use.
    case sliceOfLargeBuffer
    /// Large objects that closures capture as a whole for a field.
    case wholeObject
    /// Strings of equal contents.
    case equalStrings
    /// Objects of Foundation that hold equal contents, as bridging and copying makes them.
    case equalBridgedObjects
    /// Many tasks that wait at one place.
    case waitingTasks
    /// Many blocks that wait in one dispatch queue, or operations in one operation queue.
    case waitingBlocks
    /// Tasks that have ended, and that a group or their handles keep.
    case finishedTasks
    /// Memory of deallocated objects that unowned references keep.
    case deallocatedMemory
    /// Memory that nothing leads to, and that no leak stands for.
    case lostMemory
    /// A collection that keeps more than a third of all.
    case dominatingContainer
    /// Timers and sources whose owners are dead, or that alone keep their owner.
    case deadOwner
  }

  /// A field, or a root.
  package struct Container: Codable, Sendable, Hashable {
    /// Type of the object that has the field, or kind and name of the root.
    package var type: String
    /// The field; empty for a root.
    package var field: String
  }

  package var kind: Kind
  /// What was found, in one sentence without numbers.
  package var title: String
  /// How many objects it is about.
  package var objects: Int
  /// Bytes that would be saved, or that are kept.
  package var bytes: Int
  /// Bytes of them that are in use, as the slices of a buffer show them; nil for other kinds.
  package var usedBytes: Int?
  /// Type of the objects.
  package var type: String
  package var container: Container?
  /// The shortest way from a root to one of the objects.
  package var retainPath: [LeakReport.PathStep]
  /// Where one of the objects was allocated.
  package var allocation: LeakReport.Backtrace
  /// Where the tasks wait.
  package var suspended: LeakReport.Backtrace?
  /// The closure that keeps the objects.
  package var closure: LeakReport.Backtrace?
  /// What can be done, in one sentence.
  package var advice: String
}

extension HeapFinding {
  /// What is worth a look in a heap, the most bytes first; the same for the same file.
  package static func findings(in heap: LoadedHeap, _ symbols: HeapSymbols) -> [HeapFinding] {
    let limits = HeapFindingLimits(heap)
    let places = HeapLocations(heap)
    var drafts = LargestContainer.drafts(heap, places, limits)
    drafts += EmptyCapacity.drafts(heap, places, limits)
    drafts += SliceSearch.drafts(heap, places, limits)
    drafts += WholeObjects.drafts(heap, places, limits, symbols.code)
    drafts += EqualContents.drafts(heap, places, limits)
    drafts += WaitingTasks.drafts(heap, places)
    drafts += WaitingBlocks.drafts(heap, places)
    drafts += DeadOwners.drafts(heap, places)
    drafts += DeallocatedMemory.drafts(heap, places, limits)
    drafts += LostMemory.drafts(heap)
    drafts = drafts.ordered { a, b in
      (b.bytes, b.objects, a.kind.rawValue, a.block) < (a.bytes, a.objects, b.kind.rawValue, b.block)
    }
    return named(Array(drafts.prefix(most)), heap, symbols)
  }

  private static let most = 20

  private static func named(_ drafts: [HeapFindingDraft], _ heap: LoadedHeap, _ symbols: HeapSymbols) -> [HeapFinding] {
    var teller = HeapPathTeller(heap)
    for draft in drafts { teller.add(draft.block, resumption: draft.kind == .waitingTasks) }
    symbols.prepare(
      stacks: drafts.flatMap { [heap.graph.stack($0.block), $0.suspended] },
      functions: teller.functions + drafts.map(\.closure))
    let paths = drafts.isEmpty ? [] : teller.tell(symbols.table)
    return zip(drafts, paths).map { draft, path in
      let allocation = symbols.backtrace(heap.graph.stack(draft.block))
      let functions = allocation.frames.map {
        String($0.symbol.split(separator: "::").last?.prefix { $0 != "(" } ?? "")
      }
      let type = draft.type ?? heap.typeName(draft.block)
      let isOfMessages = type == KnownLeaks.messages
      let reason = isOfMessages ? KnownLeaks.reasonForMessages : KnownLeaks.reason(ofOwnBlocksMadeIn: functions)
      let known = draft.kind == .lostMemory ? reason : nil
      return HeapFinding(
        kind: draft.kind, title: draft.title, objects: draft.objects, bytes: Int(clamping: draft.bytes),
        usedBytes: draft.usedBytes.map { Int(clamping: $0) }, type: type,
        container: draft.container.map { Container(type: $0.type, field: $0.field) }, retainPath: path,
        allocation: allocation,
        suspended: draft.suspended == Snapshot.none ? nil : symbols.backtrace(draft.suspended),
        closure: draft.closure == 0 ? nil : LeakReport.Backtrace(frames: symbols.table[draft.closure]?.suffix(1) ?? []),
        advice: known ?? draft.advice)
    }
  }
}
