import UndeadReport

// What was called `Undead.start()` and so on while there was an enum of the name of this module. `Undead` in front of these
// is the module. All are disfavored: a function of the same name from any other module goes first.

/// True while allocations are recorded.
@available(*, deprecated, renamed: "LeakDetector.isActive")
@_disfavoredOverload
public var isActive: Bool { LeakDetector.isActive }

/// Why nothing is recorded; nil while the instrument is active.
@available(*, deprecated, renamed: "LeakDetector.inactiveReason")
@_disfavoredOverload
public var inactiveReason: String? { LeakDetector.inactiveReason }

/// Starts recording allocations.
///
/// - Throws: ``UndeadError`` if the instrument cannot work here.
@available(*, deprecated, renamed: "LeakDetector.start()")
@_disfavoredOverload
public func start() throws(UndeadError) { try LeakDetector.start() }

/// Starts recording all blocks, and the backtraces of a sample of them.
///
/// - Throws: ``UndeadError`` if the instrument cannot work here.
@available(*, deprecated, renamed: "LeakDetector.start(sampleEvery:)")
@_disfavoredOverload
public func start(sampleEvery meanBytes: Int) throws(UndeadError) { try LeakDetector.start(sampleEvery: meanBytes) }

/// Stops recording.
@available(*, deprecated, renamed: "LeakDetector.stop()")
@_disfavoredOverload
public func stop() { LeakDetector.stop() }

/// Begins a new generation.
@available(*, deprecated, renamed: "LeakDetector.markGeneration(_:)")
@discardableResult @_disfavoredOverload
public func markGeneration(_ name: String) -> Int? { LeakDetector.markGeneration(name) }

/// Finds what leaked.
///
/// - Throws: ``UndeadError`` if the check could not be made.
@available(*, deprecated, renamed: "LeakDetector.snapshot()")
@_disfavoredOverload
public func snapshot() throws(UndeadError) -> LeakSnapshot { try LeakDetector.snapshot() }

/// Finds what leaked and writes it to a snapshot file.
///
/// - Throws: ``UndeadError`` if the check or the file could not be made.
@available(*, deprecated, renamed: "LeakDetector.writeSnapshot(toFile:)")
@_disfavoredOverload
public func writeSnapshot(toFile path: String) throws(UndeadError) { try LeakDetector.writeSnapshot(toFile: path) }

/// Writes all live objects and who holds them to a heap file.
///
/// - Throws: ``UndeadError`` if the file could not be made.
@available(*, deprecated, renamed: "LeakDetector.writeHeap(to:)")
@_disfavoredOverload
public func writeHeap(to path: String) throws(UndeadError) { try LeakDetector.writeHeap(to: path) }

/// Finds what leaked and returns a report of it.
///
/// - Throws: ``UndeadError`` if the check could not be made.
@available(*, deprecated, renamed: "LeakDetector.checkForLeaks(options:)")
@_disfavoredOverload
public func checkForLeaks(options: ReportOptions = ReportOptions()) throws(UndeadError) -> LeakReport {
  try LeakDetector.checkForLeaks(options: options)
}

/// Tells that a reference to an object is kept where no check can see it.
@available(*, deprecated, renamed: "LeakDetector.markHeldOutside(_:)")
@_disfavoredOverload
public func markHeldOutside(_ object: AnyObject) { LeakDetector.markHeldOutside(object) }

/// Takes back one call of ``markHeldOutside(_:)``.
@available(*, deprecated, renamed: "LeakDetector.unmarkHeldOutside(_:)")
@_disfavoredOverload
public func unmarkHeldOutside(_ object: AnyObject) { LeakDetector.unmarkHeldOutside(object) }
