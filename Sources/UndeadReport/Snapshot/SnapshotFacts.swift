/// What the layers above the instrument told it.
extension Snapshot {
  /// An object that outlived its owner scope.
  package struct WatchedRecord: Sendable, Equatable {
    package var node: Index
    /// Name of the scope.
    package var scope: StringID
    /// Where the scope ended.
    package var stack: Index
    /// How the object is reached; none if nothing reaches it.
    package var path: Index
    package var flags: UInt32

    package init(
      node: Index, scope: StringID, stack: Index = Snapshot.none, path: Index = Snapshot.none, flags: UInt32 = 0
    ) {
      self.node = node
      self.scope = scope
      self.stack = stack
      self.path = path
      self.flags = flags
    }
  }

  /// A timer, display link or source that a run loop holds.
  package struct LoopItem: Sendable, Equatable {
    package var address: UInt64
    package var node: Index
    package var loop: StringID
    package var modes: StringID
    package var kind: StringID
    package var name: StringID

    package init(address: UInt64, node: Index, loop: StringID, modes: StringID, kind: StringID, name: StringID) {
      self.address = address
      self.node = node
      self.loop = loop
      self.modes = modes
      self.kind = kind
      self.name = name
    }
  }

  /// Something that is no leak but deserves a look.
  package struct DiagnosticRecord: Sendable, Equatable {
    package var kind: StringID
    package var message: StringID
    /// A JSON object with string values; may be empty.
    package var details: StringID
    package var stack: Index

    package init(kind: StringID, message: StringID, details: StringID = 0, stack: Index = Snapshot.none) {
      self.kind = kind
      self.message = message
      self.details = details
      self.stack = stack
    }
  }

  /// A further backtrace of a diagnostic.
  package struct TraceRecord: Sendable, Equatable {
    package var diagnostic: Index
    package var role: StringID
    package var stack: Index

    package init(diagnostic: Index, role: StringID, stack: Index) {
      self.diagnostic = diagnostic
      self.role = role
      self.stack = stack
    }
  }
}
