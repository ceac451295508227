/// What a register or a word of the stack holds, as far as it matters to an object that a closure captured.
enum CodeValue: Equatable {
  /// Nothing of the object.
  case other
  /// An address in the object, from its start.
  case object(Int64)
  /// An address in the context of the closure.
  case context(Int64)
  /// The metadata of the object's class.
  case type
  /// The function of the class at this offset of its metadata.
  case method(Int64)
  /// An address on the stack, from where the stack pointer is when the closure starts.
  case frame(Int64)
  /// The metadata of a type whose values have so many bytes.
  case valueType(Int64)
  /// One of several of these.
  case mixed
  /// An address in memory that has numbers, and in a context that has a reference to such memory.
  case numbers(Int64)
  case holder(Int64)
  /// The number of 32 bits at this offset of such memory.
  case number(Int64)

  /// True if the object may be found with it.
  var leadsToObject: Bool {
    switch self {
    case .object, .context, .mixed: true
    case .other, .type, .method, .frame, .valueType, .numbers, .holder, .number: false
    }
  }

  /// True for a number, and for what leads to one.
  var isOfNumber: Bool {
    switch self {
    case .numbers, .holder, .number: true
    default: false
    }
  }

  /// Where two ways through the code meet. The object counts as the object, even if one of them has something else there.
  func joined(_ other: CodeValue) -> CodeValue {
    switch (self, other) {
    case _ where self == other: self
    case (.frame, _), (_, .frame), (.mixed, _), (_, .mixed): .mixed
    case (.object, .object), (.object, .context), (.context, .object), (.context, .context): .mixed
    case (.object, _), (.context, _): self
    case (_, .object), (_, .context): other
    default: .other
    }
  }

  var isNumber: Bool { if case .number = self { true } else { false } }

  func moved(by bytes: Int64) -> CodeValue {
    switch self {
    case .object(let offset): .object(offset &+ bytes)
    case .context(let offset): .context(offset &+ bytes)
    case .frame(let offset): .frame(offset &+ bytes)
    case .numbers(let offset): .numbers(offset &+ bytes)
    case .holder(let offset): .holder(offset &+ bytes)
    case .mixed: .mixed
    case .other, .type, .method, .valueType, .number: .other
    }
  }
}
