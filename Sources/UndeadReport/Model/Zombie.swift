extension LeakReport {
  /// The use of an object after it died: all uses of one kind, by one function.
  public struct Zombie: Codable, Sendable, Equatable {
    /// `method`, `release`, `retain`, `field`, `unowned`, `cast`, `closure`, `timerTarget`, `overflow` or `escape`.
    public var kind: String
    /// Module-qualified type name of the object.
    public var type: String
    /// What happened, in one sentence.
    public var message: String
    /// Hexadecimal, with `0x`.
    package var address: String
    /// Name of the thread that used the object, `main`, or its number.
    public var thread: String
    /// How many uses there were.
    public var count: Int
    /// 16 hex digits, the same from run to run and machine to machine.
    public var signature: String
    /// The method that would have run, or the field that was used: `Poller.tick()`. Of an unowned reference the field that
    /// refers to the object: `Response.request`.
    public var member: String?
    /// `read` or `write`; only for fields and overflows.
    package var operation: String?
    /// Like ``thread``, for the one that let the object die.
    package var deallocationThread: String?
    /// Time from the death to the first use, in milliseconds.
    package var ageMilliseconds: Double?
    /// True if it was found by sampling.
    package var sampled: Bool?
    /// True if the object was freed and used on different threads, and nothing that the tool sees puts the two in an order.
    package var race: Bool?
    /// What else is known, in one sentence.
    package var details: String?
    /// What to do.
    public var advice: String?
    /// Where the object was allocated.
    public var allocation: Backtrace
    /// Where it died.
    public var deallocation: Backtrace
    /// Where it was used after that.
    public var access: Backtrace

    /// Makes a zombie; see the properties for the meaning of each part.
    package init(
      kind: String, type: String, message: String, address: String, thread: String, count: Int = 1,
      signature: String = "", member: String? = nil, operation: String? = nil, deallocationThread: String? = nil,
      ageMilliseconds: Double? = nil, sampled: Bool? = nil, race: Bool? = nil, details: String? = nil,
      advice: String? = nil,
      allocation: Backtrace = Backtrace(), deallocation: Backtrace = Backtrace(), access: Backtrace = Backtrace()
    ) {
      self.kind = kind
      self.type = type
      self.message = message
      self.address = address
      self.thread = thread
      self.count = count
      self.signature = signature
      self.member = member
      self.operation = operation
      self.deallocationThread = deallocationThread
      self.ageMilliseconds = ageMilliseconds
      self.sampled = sampled
      self.race = race
      self.details = details
      self.advice = advice
      self.allocation = allocation
      self.deallocation = deallocation
      self.access = access
    }
  }
}

extension Zombie {
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try values.decode(String.self, forKey: .kind), type: try values.decode(String.self, forKey: .type),
      message: try values.decode(String.self, forKey: .message),
      address: try values.decode(String.self, forKey: .address),
      thread: try values.decodeIfPresent(String.self, forKey: .thread) ?? "",
      count: try values.decodeIfPresent(Int.self, forKey: .count) ?? 1,
      signature: try values.decodeIfPresent(String.self, forKey: .signature) ?? "",
      member: try values.decodeIfPresent(String.self, forKey: .member),
      operation: try values.decodeIfPresent(String.self, forKey: .operation),
      deallocationThread: try values.decodeIfPresent(String.self, forKey: .deallocationThread),
      ageMilliseconds: try values.decodeIfPresent(Double.self, forKey: .ageMilliseconds),
      sampled: try values.decodeIfPresent(Bool.self, forKey: .sampled),
      race: try values.decodeIfPresent(Bool.self, forKey: .race),
      details: try values.decodeIfPresent(String.self, forKey: .details),
      advice: try values.decodeIfPresent(String.self, forKey: .advice),
      allocation: try values.decodeIfPresent(Backtrace.self, forKey: .allocation) ?? Backtrace(),
      deallocation: try values.decodeIfPresent(Backtrace.self, forKey: .deallocation) ?? Backtrace(),
      access: try values.decodeIfPresent(Backtrace.self, forKey: .access) ?? Backtrace())
  }
}
