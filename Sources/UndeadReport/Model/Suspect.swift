extension LeakReport {
  /// A group of reachable objects that only something that fires or waits holds, and that hold that thing themselves; a
  /// retain cycle that nobody owns, but that a frame of a thread names; or closures that run again and again for an object
  /// that is gone.
  public struct Suspect: Codable, Sendable, Equatable {
    /// What holds the objects; a reader must expect kinds that it does not know.
    public struct Kind: RawRepresentable, Codable, Sendable, Hashable {
      /// The text in JSON.
      public var rawValue: String

      /// Makes a kind of its text in JSON.
      public init(rawValue: String) {
        self.rawValue = rawValue
      }

      /// A timer or display link.
      public static let timer = Kind(rawValue: "heldByTimer")
      /// A dispatch source.
      public static let dispatchSource = Kind(rawValue: "heldByDispatchSource")
      /// A registration with NotificationCenter.
      public static let observer = Kind(rawValue: "heldByObserver")
      /// Something else that a run loop holds, such as a source.
      public static let runLoop = Kind(rawValue: "heldByRunLoop")
      /// A task that waits.
      public static let task = Kind(rawValue: "heldByTask")
      /// A task in a loop, whose closure captured weakly only objects that are gone: they did not cancel it.
      public static let taskOfDeadOwner = Kind(rawValue: "taskOfDeadOwner")
      /// A timer that repeats, whose block captured weakly only objects that are gone.
      public static let timerOfDeadOwner = Kind(rawValue: "timerOfDeadOwner")
      /// A block registered with NotificationCenter that captured weakly only objects that are gone.
      public static let observerOfDeadOwner = Kind(rawValue: "observerOfDeadOwner")
      /// A word on the stack of a thread, which may be out of use.
      public static let thread = Kind(rawValue: "heldByThread")
    }

    /// What holds the objects.
    public var kind: Kind
    /// 16 hex digits, the same from run to run and machine to machine.
    public var signature: String
    /// How many there are.
    public var count: Int
    /// Bytes of all of them.
    public var totalBytes: Int
    /// A few of them.
    public var objects: [LeakedObject]
    /// From the root, through what fires or waits, to the object.
    public var retainPath: [PathStep]
    /// From the object back to what holds it.
    package var holdsBack: [Reference]?
    /// True if the object's field for what holds it is weak or unowned; nil for a strong one.
    package var holdsBackWeakly: Bool?
    /// What a thread's frame names: each reference in order, the last one leads back to the first object.
    public var cycle: [Reference]?
    /// Where the first one was allocated.
    public var allocation: Backtrace
    /// Where what fires or waits was allocated, unless it is a task.
    package var mechanism: Backtrace?
    /// Where a task waits.
    package var suspended: Backtrace?
    /// How many references the first one has, and whose they are; nil if that is not known.
    package var references: ReferenceCount?
    /// What to do.
    public var advice: String?
    /// The test that made them; only where findings are grouped by tests.
    package var test: TestIdentity?

    /// Makes a group; see the properties for the meaning of each part.
    package init(
      kind: Kind, signature: String, count: Int = 1, totalBytes: Int, objects: [LeakedObject] = [],
      retainPath: [PathStep] = [], holdsBack: [Reference]? = nil, cycle: [Reference]? = nil,
      allocation: Backtrace = Backtrace(), suspended: Backtrace? = nil, advice: String? = nil, test: TestIdentity? = nil
    ) {
      self.kind = kind
      self.signature = signature
      self.count = count
      self.totalBytes = totalBytes
      self.objects = objects
      self.retainPath = retainPath
      self.holdsBack = holdsBack
      self.cycle = cycle
      self.allocation = allocation
      self.suspended = suspended
      self.advice = advice
      self.test = test
    }

    /// Adds those of another group with the same signature.
    mutating func add(_ other: Self) {
      count.addSaturating(UInt64(clamping: other.count))
      totalBytes.addSaturating(UInt64(clamping: other.totalBytes))
      if objects.count < LeakGroup.sampleLimit { objects += other.objects }
    }
  }
}
