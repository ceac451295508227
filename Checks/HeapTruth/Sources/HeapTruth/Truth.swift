import Glibc

/// What becomes of an object of this program.
enum Fate: UInt8 {
  case free
  /// Must not be reported.
  case alive
  /// Nobody owns it any more, and it will die by itself: must not be reported.
  case dropped
  /// Nothing can ever release it: should be reported.
  case leaked
}

/// The program's own list of its objects. Addresses in it are scrambled, so that no scan takes them for references.
enum Truth {
  struct Entry {
    var scrambled: UInt64 = 0
    var parent: Int32 = 0
    var kind: Int16 = -1
    var lastKind: Int16 = -1
    var fate: UInt8 = 0
    var isHolder = false
    /// Taken out of its holder before it leaked.
    var wasTaken = false
    /// Leaked by a retain too many, not by a reference to itself.
    var wasRetained = false
    /// Refers to itself, alive or not: it leaks when its owner goes.
    var isCyclic = false
    /// Reported after it was dropped: false if it dies after all.
    var wasReported = false
  }

  static let capacity = 1 << 20
  nonisolated(unsafe) static let entries: UnsafeMutablePointer<Entry> = {
    let bytes = capacity * MemoryLayout<Entry>.stride
    let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
    return memory.bindMemory(to: Entry.self, capacity: capacity)
  }()
  nonisolated(unsafe) private static let freed: UnsafeMutablePointer<Int32> = {
    let bytes = capacity * MemoryLayout<Int32>.stride
    let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
    return memory.bindMemory(to: Int32.self, capacity: capacity)
  }()
  nonisolated(unsafe) private static var freedCount = 0
  /// What died between a scan and the look at what it found: the entry and the kind of its holder.
  private static let recentCapacity = 4096
  nonisolated(unsafe) private static let recentDeaths = {
    let deaths = UnsafeMutablePointer<(Entry, Int16)>.allocate(capacity: recentCapacity)
    deaths.initialize(repeating: (Entry(), -1), count: recentCapacity)
    return deaths
  }()
  nonisolated(unsafe) private static var deaths = 0
  nonisolated(unsafe) private(set) static var used: Int32 = 1
  nonisolated(unsafe) private(set) static var aliveCount = 0
  private static let key: UInt64 = UInt64.random(in: 1 << 60 ... .max) | 0x5555_0000_0000_5550
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    return mutex
  }()

  static func scramble(_ address: UInt64) -> UInt64 { address ^ key }

  static func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Enters a new object; it is alive from now on.
  @inline(never) static func born(_ object: UnsafeMutableRawPointer, isHolder: Bool, kind: Int16) -> Int32 {
    let scrambled = scramble(UInt64(UInt(bitPattern: object)))
    return locked {
      let id: Int32
      if freedCount > 0 {
        freedCount -= 1
        id = freed[freedCount]
      } else {
        id = used
        used += 1
        precondition(Int(id) < capacity, "heap-truth: too many objects")
      }
      entries[Int(id)] = Entry(
        scrambled: scrambled, kind: kind, fate: Fate.alive.rawValue, isHolder: isHolder)
      aliveCount += 1
      return id
    }
  }

  static func died(_ id: Int32) {
    locked {
      if entries[Int(id)].fate == Fate.leaked.rawValue {
        complain("an object that was thought to have leaked died: \(describe(id))")
      }
      if entries[Int(id)].fate == Fate.alive.rawValue {
        aliveCount -= 1
        if entries[Int(id)].parent != 0 { complain("a holder let go of an object: \(describe(id))") }
      }
      if entries[Int(id)].wasReported {
        note("FALSE REPORT: dropped \(describe(id)) [some time before its end]")
        Counters.falseReports += 1
      }
      recentDeaths[deaths % recentCapacity] = (entries[Int(id)], entries[Int(entries[Int(id)].parent)].kind)
      deaths += 1
      entries[Int(id)] = Entry()
      freed[freedCount] = id
      freedCount += 1
    }
  }

  /// The object now belongs to `parent`; 0: to the code that has it in hand.
  static func move(_ id: Int32, to parent: Int32) {
    locked {
      let last = entries[Int(id)].parent
      if parent == 0, last != 0 { entries[Int(id)].lastKind = entries[Int(last)].kind }
      entries[Int(id)].parent = parent
    }
  }

  /// Called before the last reference goes: nothing will ever release the object and what it holds.
  static func leak(_ id: Int32, wasTaken: Bool, wasRetained: Bool = false) {
    locked { entries[Int(id)].wasRetained = wasRetained }
    spread(id, .leaked, wasTaken: wasTaken)
  }

  /// Called before the last reference goes: the object and what it holds will die.
  static func drop(_ id: Int32) { spread(id, .dropped, wasTaken: false) }

  private static func spread(_ id: Int32, _ fate: Fate, wasTaken: Bool) {
    locked {
      var waiting = [(id, fate)]
      while let (next, ownersFate) = waiting.popLast() {
        let entry = entries[Int(next)]
        let fate = entry.isCyclic ? Fate.leaked : ownersFate
        if entry.fate == Fate.alive.rawValue { aliveCount -= 1 }
        entries[Int(next)].fate = fate.rawValue
        entries[Int(next)].wasTaken = wasTaken && next == id
        // What lies in memory that is a root stays alive when its holder leaks.
        if fate == .leaked, entry.isHolder, kinds[Int(entry.kind)].isRoot { continue }
        for child in 1..<used where entries[Int(child)].parent == next {
          // What is on its way to its end may have belonged to an earlier object of this number.
          guard entries[Int(child)].fate == Fate.alive.rawValue else { continue }
          waiting.append((child, fate))
        }
      }
    }
  }

  /// Tells whether the object refers to itself: told before it does, and after it has ceased to.
  static func setCyclic(_ id: Int32, _ isCyclic: Bool) { locked { entries[Int(id)].isCyclic = isCyclic } }

  /// The kinds of the holders that an object lies in, innermost first.
  static func describe(_ id: Int32) -> String {
    var text = entries[Int(id)].isHolder ? "holder \(name(entries[Int(id)].kind))" : "node"
    if entries[Int(id)].lastKind >= 0 { text += ", once in \(name(entries[Int(id)].lastKind))" }
    var parent = entries[Int(id)].parent
    while parent != 0 {
      if entries[Int(parent)].isHolder { text += ", in \(name(entries[Int(parent)].kind))" }
      parent = entries[Int(parent)].parent
    }
    return text
  }

  /// At the end, what was dropped has died, unless a library of the toolchain keeps it for good.
  static func tellOfSurvivors() {
    for id in 1..<used where entries[Int(id)].fate == Fate.dropped.rawValue {
      let isTold = entries[Int(id)].wasReported ? "reported" : "not reported"
      note("never released, \(isTold): \(describe(id))")
    }
  }

  /// An object that died lately at a scrambled address.
  static func describeDead(_ scrambled: UInt64) -> String? {
    for age in 1...recentCapacity {
      let (entry, parentKind) = recentDeaths[(deaths + recentCapacity * 2 - age) % recentCapacity]
      guard entry.scrambled == scrambled else { continue }
      let what = entry.isHolder ? "holder \(name(entry.kind))" : "node, once in \(name(entry.lastKind))"
      return "\(what), in \(name(parentKind)), dead since"
    }
    return nil
  }

  static func hasAncestor(_ id: Int32, among ids: Set<Int32>) -> Bool {
    var next = entries[Int(id)].parent
    while next != 0 {
      if ids.contains(next) { return true }
      next = entries[Int(next)].parent
    }
    return false
  }

  static func isLostInFork(_ id: Int32) -> Bool {
    var next = id
    while next != 0 {
      if entries[Int(next)].isHolder, kinds[Int(entries[Int(next)].kind)].isLostInFork { return true }
      next = entries[Int(next)].parent
    }
    return false
  }

  static func name(_ kind: Int16) -> String { kind < 0 ? "nothing" : kinds[Int(kind)].name }
}

/// Tells about a defect of this program itself.
func complain(_ text: String) {
  note("GENERATOR: \(text)")
  Counters.defects += 1
}

/// Writes a line to standard error at once.
func note(_ text: String) {
  let line = text + "\n"
  _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
}
