/// A group of reachable objects that only something that fires or waits holds, and that hold that thing themselves.
public struct Suspect: Codable, Sendable, Equatable {
  /// What holds the objects; a reader must expect kinds that it does not know.
  public struct Kind: RawRepresentable, Codable, Sendable, Hashable {
    public var rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public static let timer = Kind(rawValue: "heldByTimer")
    public static let dispatchSource = Kind(rawValue: "heldByDispatchSource")
    public static let observer = Kind(rawValue: "heldByObserver")
    public static let task = Kind(rawValue: "heldByTask")
  }

  public var kind: Kind
  /// 16 hex digits, the same from run to run and machine to machine.
  public var signature: String
  public var count: Int
  public var totalBytes: Int
  public var objects: [LeakedObject]
  /// From the root, through what fires or waits, to the object.
  public var retainPath: [PathStep]
  /// From the object back to what holds it.
  public var holdsBack: [Reference]?
  public var allocation: Backtrace
  /// Where a task waits.
  public var suspended: Backtrace?
  public var advice: String?

  /// Makes a group; see the properties for the meaning of each part.
  public init(
    kind: Kind, signature: String, count: Int = 1, totalBytes: Int, objects: [LeakedObject] = [],
    retainPath: [PathStep] = [], holdsBack: [Reference]? = nil, allocation: Backtrace = Backtrace(),
    suspended: Backtrace? = nil, advice: String? = nil
  ) {
    self.kind = kind
    self.signature = signature
    self.count = count
    self.totalBytes = totalBytes
    self.objects = objects
    self.retainPath = retainPath
    self.holdsBack = holdsBack
    self.allocation = allocation
    self.suspended = suspended
    self.advice = advice
  }
}

/// The use of an object after it died.
public struct Zombie: Codable, Sendable, Equatable {
  /// `method`, `release`, `retain`, `field`, `unowned`, `cast`, `closure` or `timerTarget`.
  public var kind: String
  public var type: String
  public var message: String
  public var address: String
  public var thread: String
  public var count: Int
  public var allocation: Backtrace
  public var deallocation: Backtrace
  public var access: Backtrace

  public init(
    kind: String, type: String, message: String, address: String, thread: String, count: Int = 1,
    allocation: Backtrace = Backtrace(), deallocation: Backtrace = Backtrace(), access: Backtrace = Backtrace()
  ) {
    self.kind = kind
    self.type = type
    self.message = message
    self.address = address
    self.thread = thread
    self.count = count
    self.allocation = allocation
    self.deallocation = deallocation
    self.access = access
  }
}

/// Something that is not a leak but deserves a look, such as a late timer.
public struct Diagnostic: Codable, Sendable, Equatable {
  public var kind: String
  public var message: String
  public var details: String
  public var backtrace: Backtrace?

  public init(kind: String, message: String, details: String = "", backtrace: Backtrace? = nil) {
    self.kind = kind
    self.message = message
    self.details = details
    self.backtrace = backtrace
  }
}
