#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
extension TrackedRunLoop {
  /// The name of a way to run the loop; only timers, sources and observers of the running mode are served.
  public struct Mode: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    let index: Int32

    init(index: Int32) { self.index = index }

    /// The mode with this name; equal names are the same mode.
    public init(rawValue: String) { index = ModeTable.intern(rawValue) }

    /// The mode with this name; equal names are the same mode.
    public init(_ name: String) { self.init(rawValue: name) }

    /// The mode's name.
    public var rawValue: String { ModeTable.name(index) }

    /// The mode's name.
    public var description: String { rawValue }

    /// The mode in which a loop runs by default.
    public static let `default` = Mode(index: ModeTable.defaultMode)

    /// Stands for every mode that was declared common: an item added to it is in all of them. It cannot be run.
    public static let common = Mode(index: ModeTable.commonMode)

    /// The mode of a user interface while it follows a finger or the mouse. It is common from the start.
    public static let tracking = Mode(index: ModeTable.trackingMode)
  }

  /// Why a run returned.
  public enum RunResult: String, Sendable, Codable, CaseIterable {
    /// The mode had nothing to wait for, was `.common`, or the loop's thread has ended.
    case finished
    /// `stop()` ended this activation.
    case stopped
    /// The limit was reached.
    case timedOut
    /// A source was handled, and the caller asked to return after one. A timer is not a source.
    case handledSource
  }
}
#endif
