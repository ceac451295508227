#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

/// The sources of a loop: what is in which mode, what was signalled, and who waits for which descriptor.
struct SourceTable: ~Copyable {
  struct Record {
    let source: TrackedRunLoopSource
    /// What its descriptor is waited for; nil for one that is signalled by a call.
    var polled: Polled?
    var modes: [Int32]
  }

  struct Polled {
    var descriptor: Int32
    var conditions: UInt32
    /// The file that it stood for when it was added.
    var file: UInt64
    /// How many waits there had been when it was added.
    var since: UInt32
  }

  struct Waiter {
    let source: TrackedRunLoopSource
    let number: UInt64
    let polled: Polled
  }

  /// Numbers are never used again, also when the table serves another loop: a stale one finds nothing.
  private var last: UInt64 = 0
  private var records: [UInt64: Record] = [:]
  private var signalled: Set<UInt64> = []
  private var counts: [Int32: Int] = [:]
  /// Who waits for a descriptor, in the order in which they came.
  private var waiters: [Int32: [UInt64]] = [:]
  private var toCheck: [Int32] = []

  var isEmpty: Bool { records.isEmpty }

  /// In the order in which they were added.
  var all: [Record] { records.sorted { $0.key < $1.key }.map(\.value) }

  func hasSources(in mode: Int32) -> Bool { counts[mode] != nil }

  func contains(_ number: UInt64, in mode: Int32) -> Bool { records[number]?.modes.contains(mode) ?? false }

  // MARK: - Adding and removing

  mutating func insert(_ source: TrackedRunLoopSource, polled: Polled?, modes: [Int32]) -> UInt64 {
    last += 1
    records[last] = Record(source: source, polled: polled, modes: modes)
    for mode in modes { counts[mode, default: 0] += 1 }
    if let polled { waiters[polled.descriptor, default: []].append(last) }
    return last
  }

  /// Whether one of the modes was new.
  mutating func add(_ number: UInt64, to modes: [Int32]) -> Bool {
    guard let missing = records[number].map({ record in modes.filter { !record.modes.contains($0) } }) else {
      return false
    }
    records[number]?.modes.append(contentsOf: missing)
    for mode in missing { counts[mode, default: 0] += 1 }
    return !missing.isEmpty
  }

  /// Returns the source's record if it was in no other modes.
  mutating func remove(_ number: UInt64, from modes: [Int32]) -> Record? {
    guard let present = records[number]?.modes else { return nil }
    if present.allSatisfy(modes.contains) { return remove(number) }
    records[number]?.modes.removeAll(where: modes.contains)
    for mode in present where modes.contains(mode) { discount(mode) }
    return nil
  }

  mutating func remove(_ number: UInt64) -> Record? {
    guard let record = records.removeValue(forKey: number) else { return nil }
    for mode in record.modes { discount(mode) }
    signalled.remove(number)
    if let polled = record.polled { forget(number, waitingFor: polled.descriptor) }
    return record
  }

  /// The caller lets go of them without the lock.
  mutating func removeAll() -> [Record] {
    let all = all
    records = [:]
    signalled = []
    counts = [:]
    waiters = [:]
    return all
  }

  mutating func widen(by mode: Int32) {
    for number in records.keys where contains(number, in: ModeTable.commonMode) { _ = add(number, to: [mode]) }
  }

  private mutating func discount(_ mode: Int32) {
    let count = counts[mode, default: 0] - 1
    counts[mode] = count > 0 ? count : nil
  }

  private mutating func forget(_ number: UInt64, waitingFor descriptor: Int32) {
    waiters[descriptor]?.removeAll { $0 == number }
    if waiters[descriptor]?.isEmpty ?? false { waiters[descriptor] = nil }
  }

  // MARK: - Signals

  mutating func noteSignalled(_ number: UInt64) {
    if records[number] != nil { signalled.insert(number) }
  }

  func hasSignalled(in mode: Int32) -> Bool { !signalled.isEmpty && signalled.contains { contains($0, in: mode) } }

  /// Those to call, from the lowest order to the highest, equal ones as they were added.
  func signalled(in mode: Int32) -> [(source: TrackedRunLoopSource, number: UInt64)] {
    if signalled.isEmpty { return [] }
    return signalled.compactMap { number in
      guard let record = records[number], record.modes.contains(mode) else { return nil }
      return (record.source, number)
    }.sorted { ($0.source.order, $0.number) < ($1.source.order, $1.number) }
  }

  /// Whether a source that was signalled is to be called now; its signal is then spent.
  mutating func takeSignal(_ number: UInt64, in mode: Int32) -> Bool {
    guard contains(number, in: mode) else { return false }
    return signalled.remove(number) != nil
  }

  // MARK: - Descriptors

  func descriptor(of number: UInt64) -> Int32? { records[number]?.polled?.descriptor }

  var descriptors: [Int32] { Array(waiters.keys) }

  /// What a descriptor is waited for in `mode` by all of its sources, 0 if by none.
  func interest(in descriptor: Int32, _ mode: Int32) -> UInt32 {
    waiters[descriptor]?.reduce(0) { interest, number in
      guard let record = records[number], let polled = record.polled, record.modes.contains(mode) else {
        return interest
      }
      return interest | polled.conditions
    } ?? 0
  }

  /// The sources that wait for a descriptor in `mode` and want to know of one of `conditions`.
  func waiters(for descriptor: Int32, _ conditions: UInt32, in mode: Int32) -> [Waiter] {
    waiters[descriptor]?.compactMap { number in
      guard let record = records[number], let polled = record.polled, record.modes.contains(mode),
        polled.conditions & conditions != 0
      else { return nil }
      return Waiter(source: record.source, number: number, polled: polled)
    } ?? []
  }

  /// Numbers of the sources that wait for a descriptor, and that had it from another file than `file`.
  func numbers(waitingFor descriptor: Int32, otherThan file: UInt64) -> [UInt64] {
    numbers(waitingFor: descriptor).filter { records[$0]?.polled?.file != file }
  }

  func numbers(waitingFor descriptor: Int32) -> [UInt64] { waiters[descriptor] ?? [] }

  /// Some descriptors to look whether they are still open, others each time.
  mutating func takeDescriptorsToCheck(atMost limit: Int) -> [Int32] {
    var taken: [Int32] = []
    var isNewRound = false
    while taken.count < limit {
      if toCheck.isEmpty {
        guard taken.isEmpty, !isNewRound, !waiters.isEmpty else { break }
        toCheck = descriptors
        isNewRound = true
      }
      // Of a former round, some may be gone by now, also all of them.
      let descriptor = toCheck.removeLast()
      if waiters[descriptor] != nil { taken.append(descriptor) }
    }
    return taken
  }

  /// Gives a source another descriptor.
  mutating func exchange(_ descriptor: Int32, of number: UInt64) {
    guard let old = records[number]?.polled?.descriptor, old != descriptor else { return }
    forget(number, waitingFor: old)
    records[number]?.polled?.descriptor = descriptor
    records[number]?.polled?.file = undead_loop_file(descriptor)
    waiters[descriptor, default: []].append(number)
  }

  /// The sources whose descriptors are this library's.
  var signals: [(signal: Int32, number: UInt64, descriptor: Int32)] {
    records.compactMap { number, record in
      guard case .signal(let signal, _) = record.source.kind, let polled = record.polled else { return nil }
      return (signal, number, polled.descriptor)
    }
  }
}
#endif
