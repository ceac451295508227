import UndeadReport

/// What the checks of a process know together: which scopes run, what was reported, what is reported when it ends.
///
/// One is that of the process, ``process``: what users call checks in it, and assertion sites, scopes and searches hand
/// it down. Another one, such as that of a test, has tables of its own: neither sees what the other one knows.
///
/// The instrument is one per process, and so is what lies in it, whatever the session: whether anything is recorded
/// (``Availability``), the numbers of scopes and the task-local value that names the current one, the avoided addresses,
/// and the lock that lets one check look at a time. What the instrument asks back, or must do, is that of
/// ``process`` alone: the mark of what is born beside scopes, facts for a look, reports of zombies, the exit handler.
package final class DetectionSession: Sendable {
  /// The session of the process. It belongs to no scope, wherever it is asked for first.
  package static let process = AllocationScope.outsideOfAll { DetectionSession(drivesInstrument: true) }

  /// What it asks about the heap.
  let instrument: Instrument
  /// Settings of the environment, and where it prints what no test library takes.
  package let environment: SessionEnvironment
  let scopes: ScopeTable
  let reported = ReportedLeaks()
  let functions = ProgramFunctions()
  let watchlist: Watchlist
  let heldOutside = HeldOutside()
  let zombies: ZombieObservers
  package let end: ProcessEnd
  private let skipped = SkippedPlaces()

  /// Makes a session beside that of the process.
  package convenience init(instrument: Instrument = .process, environment: SessionEnvironment = .process) {
    self.init(drivesInstrument: false, instrument: instrument, environment: environment)
  }

  private init(
    drivesInstrument: Bool, instrument: Instrument = .process, environment: SessionEnvironment = .process
  ) {
    self.instrument = instrument
    self.environment = environment
    scopes = ScopeTable(drivesInstrument: drivesInstrument)
    watchlist = Watchlist(drivesInstrument: drivesInstrument)
    zombies = ZombieObservers(drivesInstrument: drivesInstrument)
    end = ProcessEnd(isOfProcess: drivesInstrument)
  }

  /// True the first time that a place asks: what is not checked is reported once at each place. What is so everywhere
  /// on this platform is reported once.
  package func isFirstSkip(at place: String, _ reason: String) -> Bool {
    skipped.insert(Availability.isOfPlatform(reason) ? "" : place)
  }
}
