extension LeakReport {
  /// A group of leaks of one signature.
  public struct Leak: Codable, Sendable, Equatable {
    /// Why the objects leaked; a reader must expect kinds that it does not know.
    public struct Kind: RawRepresentable, Codable, Sendable, Hashable {
      /// The text in JSON.
      public var rawValue: String

      /// Makes a kind of its text in JSON.
      public init(rawValue: String) {
        self.rawValue = rawValue
      }

      /// Objects that hold each other.
      public static let retainCycle = Kind(rawValue: "retainCycle")
      /// An object or raw memory that nothing refers to.
      public static let unreferenced = Kind(rawValue: "unreferenced")
      /// Reachable, but its owner scope ended.
      public static let abandoned = Kind(rawValue: "abandoned")
    }

    /// 16 hex digits, the same from run to run and machine to machine.
    public var signature: String
    /// Why the objects leaked.
    public var kind: Kind
    /// Leaks of this group.
    public var count: Int
    /// Swift objects and blocks of raw memory of all leaks of the group, with what hangs off them.
    public var objectCount: Int
    /// Bytes of all leaks of the group, with what hangs off them.
    public var totalBytes: Int
    /// A few objects, roots of the leaks first.
    public var objects: [LeakedObject]
    /// The references of the cycle in order, back to the first object; only for retain cycles.
    public var cycle: [Reference]?
    /// How many references are left out in the middle of a very long cycle; nil if none are.
    package var omittedReferences: Int?
    /// From a root, or from the object that nothing refers to, to the object of the program.
    public var retainPath: [PathStep]?
    /// Cycles among the objects that hang off the leak: they would leak even if it were fixed.
    package var innerCycles: [[Reference]]?
    /// What leaked with it, by type, the most bytes first.
    public var alsoLeaked: [TypeCount]
    /// The owner scope that ended before the objects died, where one watched them.
    public var scope: Scope?
    /// Where the first object was allocated.
    public var allocation: Backtrace
    /// A few of the other ways on which the allocating function was reached, if there are any.
    package var otherAllocations: [Backtrace]?
    /// Distinct backtraces of the group's allocations, if there are several.
    package var allocationPaths: Int?
    /// Where a leaked task waits.
    package var suspended: Backtrace?
    /// How many references an object of it has, and whose they are: the first of the cycle for which not all are found, else
    /// the first object. Nil if that is not known.
    package var references: ReferenceCount?
    /// Why it is certain although words name objects of it; nil if none does.
    package var certainty: Certainty?
    /// What to do, where the pattern is known.
    public var advice: String?
    /// Why the program cannot help it; only for known leaks.
    public var reason: String?
    /// The test that made it; only where leaks are grouped by tests.
    package var test: TestIdentity?

    /// Makes a group; see the properties for the meaning of each part.
    package init(
      signature: String, kind: Kind, count: Int = 1, objectCount: Int = 1, totalBytes: Int,
      objects: [LeakedObject] = [], cycle: [Reference]? = nil, retainPath: [PathStep]? = nil,
      innerCycles: [[Reference]]? = nil, alsoLeaked: [TypeCount] = [], scope: Scope? = nil,
      allocation: Backtrace = Backtrace(), otherAllocations: [Backtrace]? = nil, allocationPaths: Int? = nil,
      suspended: Backtrace? = nil, advice: String? = nil, reason: String? = nil, test: TestIdentity? = nil
    ) {
      self.signature = signature
      self.kind = kind
      self.count = count
      self.objectCount = objectCount
      self.totalBytes = totalBytes
      self.objects = objects
      self.cycle = cycle
      self.retainPath = retainPath
      self.innerCycles = innerCycles
      self.alsoLeaked = alsoLeaked
      self.scope = scope
      self.allocation = allocation
      self.otherAllocations = otherAllocations
      self.allocationPaths = allocationPaths
      self.suspended = suspended
      self.advice = advice
      self.reason = reason
      self.test = test
    }

    static let otherAllocationLimit = 4

    /// An owner scope and where it ended.
    public struct Scope: Codable, Sendable, Equatable {
      /// Name, as it was given or as it is known.
      public var name: String
      /// Where the scope ended.
      public var backtrace: Backtrace

      /// Makes a scope; see the properties for the meaning of each part.
      package init(name: String, backtrace: Backtrace) {
        self.name = name
        self.backtrace = backtrace
      }
    }
  }
}

extension Leak {
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let count = try values.decode(Int.self, forKey: .count)
    self.init(
      signature: try values.decode(String.self, forKey: .signature), kind: try values.decode(Kind.self, forKey: .kind),
      count: count, objectCount: try values.decodeIfPresent(Int.self, forKey: .objectCount) ?? count,
      totalBytes: try values.decode(Int.self, forKey: .totalBytes),
      objects: try values.decodeIfPresent([LeakedObject].self, forKey: .objects) ?? [],
      cycle: try values.decodeIfPresent([Reference].self, forKey: .cycle),
      retainPath: try values.decodeIfPresent([PathStep].self, forKey: .retainPath),
      innerCycles: try values.decodeIfPresent([[Reference]].self, forKey: .innerCycles),
      alsoLeaked: try values.decodeIfPresent([TypeCount].self, forKey: .alsoLeaked) ?? [],
      scope: try values.decodeIfPresent(Scope.self, forKey: .scope),
      allocation: try values.decodeIfPresent(Backtrace.self, forKey: .allocation) ?? Backtrace(),
      otherAllocations: try values.decodeIfPresent([Backtrace].self, forKey: .otherAllocations),
      allocationPaths: try values.decodeIfPresent(Int.self, forKey: .allocationPaths),
      suspended: try values.decodeIfPresent(Backtrace.self, forKey: .suspended),
      advice: try values.decodeIfPresent(String.self, forKey: .advice),
      reason: try values.decodeIfPresent(String.self, forKey: .reason),
      test: try values.decodeIfPresent(TestIdentity.self, forKey: .test))
    references = try values.decodeIfPresent(ReferenceCount.self, forKey: .references)
    certainty = try values.decodeIfPresent(Certainty.self, forKey: .certainty)
    omittedReferences = try values.decodeIfPresent(Int.self, forKey: .omittedReferences)
  }
}

extension LeakReport {
  /// A block that leaked.
  public struct LeakedObject: Codable, Sendable, Hashable {
    /// Module-qualified type name, or `raw memory`.
    public var type: String
    /// Hexadecimal, with `0x`.
    package var address: String
    /// Usable bytes.
    public var size: Int

    /// Makes an object; see the properties for the meaning of each part.
    package init(type: String, address: String, size: Int) {
      self.type = type
      self.address = address
      self.size = size
    }
  }
}

extension LeakReport {
  /// How many blocks of a type there are, and their bytes.
  public struct TypeCount: Codable, Sendable, Hashable {
    /// Module-qualified type name.
    public var type: String
    /// Number of blocks.
    public var count: Int
    /// Bytes of all of them.
    package var bytes: Int
    /// The dependency that declares the type; nil for the user's own, and those of the toolchain and the runtime.
    package var package: String?

    /// Makes a sum; see the properties for the meaning of each part.
    package init(type: String, count: Int, bytes: Int) {
      self.type = type
      self.count = count
      self.bytes = bytes
    }
  }
}

extension LeakReport {
  /// A strong reference from a field of an object to the next object of a cycle or path.
  public struct Reference: Codable, Sendable, Hashable {
    /// Type of the object that holds the reference.
    public var type: String
    /// Field that holds it, with the path inside of it: `children[2].handler`; `+24` if only its offset is known.
    public var field: String
    /// Declared type of the field.
    package var fieldType: String?
    /// The closure that the field holds, as the function that its braces make.
    public var closure: Frame?
    /// What the closure captures that leads on.
    public var captures: String?
    /// The dependency that declares the type: "swift-nio"; nil for the user's own and the toolchain.
    package var package: String?

    /// Makes a value; see the properties for the meaning of each part.
    package init(
      type: String, field: String, fieldType: String? = nil, closure: Frame? = nil, captures: String? = nil
    ) {
      self.type = type
      self.field = field
      self.fieldType = fieldType
      self.closure = closure
      self.captures = captures
    }
  }
}

extension Reference {
  /// True if the field holds a closure, even where its function is not known.
  var holdsClosure: Bool { closure != nil || fieldType.map(TypeName.isFunction) ?? false }

  /// True if only the offset of the field is known.
  var isNameless: Bool { field.hasPrefix("+") }
}

extension LeakReport {
  /// A step of a retain path; the last one is the object at its end, with an empty field.
  public struct PathStep: Codable, Sendable, Hashable {
    /// Where a path starts.
    public struct Root: Codable, Sendable, Hashable {
      /// `global`, `stack`, `threadLocal`, `register`, `runLoop` or `task`.
      public var kind: String
      /// Name, as it was given or as it is known.
      public var name: String
      /// Strong references to the object of this step; only where a word of a thread is the root, and they are known.
      package var references: Int?
      /// How many of these no field, element or capture accounts for.
      package var owned: Int?
      /// True if others may own these: another thread, a global, memory of no type.
      package var shared: Bool?
      /// What the path goes through at worst: `frames` of tasks, records of `libraries`, or `words` without a type. Nil if it leads
      /// through references and fields of known types alone.
      package var evidence: String?

      /// Makes a root; see the properties for the meaning of each part.
      package init(
        kind: String, name: String, references: Int? = nil, owned: Int? = nil, shared: Bool? = nil,
        evidence: String? = nil
      ) {
        self.kind = kind
        self.name = name
        self.references = references
        self.owned = owned
        self.shared = shared
        self.evidence = evidence
      }
    }

    /// The root that holds the object of this step; only for the first step.
    public var root: Root?
    /// Module-qualified type name.
    public var type: String
    /// As in ``Reference``; empty for the last step.
    public var field: String
    /// As in ``Reference``.
    package var fieldType: String?
    /// As in ``Reference``.
    public var closure: Frame?
    /// As in ``Reference``.
    public var captures: String?
    /// What the run loop holds: `timer`, `display link`, `source`; only for the first step from a run loop, as are the next.
    public var item: String?
    /// Modes that the run loop has it in.
    public var mode: String?
    /// Name that it was given.
    public var name: String?
    /// As in ``Reference``.
    package var package: String?

    /// Makes a value; see the properties for the meaning of each part.
    package init(
      root: Root? = nil, type: String, field: String, fieldType: String? = nil, closure: Frame? = nil,
      captures: String? = nil, item: String? = nil, mode: String? = nil, name: String? = nil
    ) {
      self.root = root
      self.item = item
      self.mode = mode
      self.name = name
      self.type = type
      self.field = field
      self.fieldType = fieldType
      self.closure = closure
      self.captures = captures
    }

    /// Makes a step of a reference.
    package init(root: Root? = nil, _ reference: Reference) {
      self.init(
        root: root, type: reference.type, field: reference.field, fieldType: reference.fieldType,
        closure: reference.closure, captures: reference.captures)
      package = reference.package
    }

    /// The reference that the step follows.
    package var reference: Reference {
      var reference = Reference(type: type, field: field, fieldType: fieldType, closure: closure, captures: captures)
      reference.package = package
      return reference
    }
  }
}
