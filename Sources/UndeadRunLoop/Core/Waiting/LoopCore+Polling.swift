#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

// What the kernel polls for a loop follows from its sources and from the mode that it runs in. All of these functions
// expect the caller to hold the lock, and release no source: their callers do, without the lock.

extension LoopCore {
  /// Opens the descriptors by which the loop sleeps, if need be; in a child that was forked, descriptors of its own. False
  /// if the process has none left.
  @discardableResult
  func openPoller() -> Bool {
    if state.pointee.poller.isInherited { adoptPoller() }
    return state.pointee.poller.open()
  }

  /// Makes the poll know what the sources of `mode` wait for, and nothing else.
  func syncPolled(_ mode: Int32) {
    guard openPoller() else { return }
    if state.pointee.polled.mode != mode {
      state.pointee.polled.mode = mode
      for descriptor in Set(state.pointee.polled.descriptors).union(state.pointee.sources.descriptors) {
        syncPolled(descriptor: descriptor)
      }
    }
    syncMainQueue(mode)
  }

  /// The same for one descriptor, in the mode that is polled.
  ///
  /// - Parameter isChecked: whether the kernel is asked even if nothing is new.
  func syncPolled(descriptor: Int32, isChecked: Bool = false) {
    guard openPoller(), state.pointee.polled.mode >= 0 else { return }
    let wanted = state.pointee.sources.interest(in: descriptor, state.pointee.polled.mode)
    let present = state.pointee.polled.conditions(of: descriptor)
    if !isChecked, wanted == present { return }
    if present == 0, dropClosed(descriptor) { return syncPolled(descriptor: descriptor) }
    switch state.pointee.polled.set(descriptor, wanted, on: state.pointee.poller.poll) {
    case .exchanged, .failed(errno: EBADF):
      dropSources(state.pointee.sources.numbers(waitingFor: descriptor), of: descriptor)
      // Nobody waits for the other file.
      _ = state.pointee.polled.set(descriptor, 0, on: state.pointee.poller.poll)
    case .done, .failed: break
    }
    if state.pointee.polled.hasManyLost { forgetLostDescriptors() }
  }

  /// Polls Dispatch's main queue in the common modes.
  private func syncMainQueue(_ mode: Int32) {
    guard state.pointee.poller.servesMainQueue else { return }
    let isWanted = state.pointee.commonModes.contains(mode)
    guard isWanted != state.pointee.mainQueuePolled else { return }
    state.pointee.mainQueuePolled = isWanted
    undead_loop_poll_set(
      state.pointee.poller.poll, undead_loop_main_queue_descriptor(), isWanted ? UNDEAD_LOOP_READABLE : 0,
      Poller.Token.mainQueue, false)
  }

  /// Enters a source that was claimed, and tries its descriptor. Returns 0, or why it cannot be waited for.
  func insert(_ source: TrackedRunLoopSource, descriptor: Int32?, modes: [Int32]) -> Int32 {
    let polled = descriptor.map { descriptor in
      SourceTable.Polled(
        descriptor: descriptor, conditions: source.polledConditions | UNDEAD_LOOP_HANGUP,
        file: undead_loop_file(descriptor), since: undead_loop_waits())
    }
    let former = polled.map { state.pointee.sources.numbers(waitingFor: $0.descriptor) } ?? []
    source.number = state.pointee.sources.insert(source, polled: polled, modes: modes)
    if source.isSignalled { state.pointee.sources.noteSignalled(source.number) }
    guard let polled else { return 0 }
    let error = openPoller() ? tryPolling(polled, former) : EMFILE
    if error != 0 { withExtendedLifetime(state.pointee.sources.remove(source.number)) {} }
    return error
  }

  private func tryPolling(_ polled: SourceTable.Polled, _ former: [UInt64]) -> Int32 {
    let mode = state.pointee.polled.mode
    let wanted = mode < 0 ? 0 : state.pointee.sources.interest(in: polled.descriptor, mode)
    let isForTrial = wanted == 0
    let outcome = state.pointee.polled.set(
      polled.descriptor, isForTrial ? UNDEAD_LOOP_HANGUP : wanted, on: state.pointee.poller.poll)
    if isForTrial { _ = state.pointee.polled.set(polled.descriptor, 0, on: state.pointee.poller.poll) }
    switch outcome {
    case .done: return 0
    case .failed(let error): return error
    case .exchanged:
      dropSources(former, of: polled.descriptor)
      // It may be polled for what only those wanted.
      syncPolled(descriptor: polled.descriptor)
      return 0
    }
  }

  /// Takes a source out of the table and its descriptor, if nobody else waits for it, out of the poll.
  func removeSource(_ number: UInt64) -> SourceTable.Record? {
    let record = state.pointee.sources.remove(number)
    if let polled = record?.polled { syncPolled(descriptor: polled.descriptor) }
    return record
  }

  /// Takes all sources out, when the loop ends.
  func removeAllSources() -> [SourceTable.Record] {
    let records = state.pointee.sources.removeAll()
    if state.pointee.poller.isInherited { adoptPoller() }
    for descriptor in state.pointee.polled.descriptors {
      _ = state.pointee.polled.set(descriptor, 0, on: state.pointee.poller.poll)
    }
    for record in records { record.source.membership.leave() }
    return records
  }

  // MARK: - Descriptors that were closed

  /// Looks whether some of the descriptors are still open.
  func checkDescriptors() {
    let atMost = 16
    for descriptor in state.pointee.sources.takeDescriptorsToCheck(atMost: atMost) {
      if state.pointee.polled.conditions(of: descriptor) != 0 {
        syncPolled(descriptor: descriptor, isChecked: true)
      } else {
        _ = dropClosed(descriptor)
      }
    }
  }

  /// Drops the sources of a descriptor that is not polled if the number stands for another file than theirs. False if there
  /// are none: the kernel reports descriptors that are polled.
  private func dropClosed(_ descriptor: Int32) -> Bool {
    let others = state.pointee.sources.numbers(waitingFor: descriptor, otherThan: undead_loop_file(descriptor))
    dropSources(others, of: descriptor)
    return !others.isEmpty
  }

  /// Takes out sources whose descriptor was closed under them; the loop ends them.
  private func dropSources(_ numbers: [UInt64], of descriptor: Int32) {
    for number in numbers {
      guard let record = state.pointee.sources.remove(number) else { continue }
      let source = record.source
      let loop = state.pointee.identity?.name ?? ""
      let block = {
        source.invalidate()
        Diagnostics.report(
          .descriptorClosed, "descriptor \(descriptor) was closed while it was a source of run loop \"\(loop)\"",
          loop: loop)
      }
      append(.block(block, nil), modes: [ModeTable.commonMode])
    }
  }

  /// Makes the kernel forget registrations that cannot be taken back one by one. A loop that sleeps by the former poll, which
  /// lives until then, has to look at the new one.
  func forgetLostDescriptors() {
    state.pointee.poller.reopen()
    repoll()
    state.pointee.sleep.noteWork()
  }

  // MARK: - Forked children

  /// A child shares its parent's descriptors, and every change to them: it gets its own.
  private func adoptPoller() {
    state.pointee.poller.adopt()
    for (signal, number, descriptor) in state.pointee.sources.signals {
      let own = undead_loop_signal_adopt(signal, descriptor)
      if own >= 0 { state.pointee.sources.exchange(own, of: number) }
    }
    if state.pointee.owner == undead_loop_thread() { state.pointee.threadID = undead_loop_thread_id() }
    repoll()
  }

  private func repoll() {
    let mode = state.pointee.polled.mode
    state.pointee.polled.forgetAll()
    state.pointee.mainQueuePolled = false
    if mode >= 0 { syncPolled(mode) }
  }
}
#endif
