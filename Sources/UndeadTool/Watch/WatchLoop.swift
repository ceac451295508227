import UndeadHeap
import UndeadSystem

/// What a watch needs of the world; tests have one of their own.
protocol WatchedWorld {
  /// Seconds of a clock that only goes forward.
  var now: Double { get }
  /// Waits until then; returns earlier, with the reason, if something ends the watch.
  func wait(until time: Double) throws(ToolError) -> WatchEnd?
  /// Counts what is alive.
  func census() throws(ToolError) -> TypeCounts
  /// Reports the progress.
  func show(_ text: String)
}

/// Why a watch ended.
enum WatchEnd: Equatable {
  case time
  case programEnded
  case interrupted
}

/// Takes a census again and again.
struct WatchLoop {
  /// Seconds between two censuses.
  let every: Double
  /// Seconds in all; nil for as long as the program runs.
  let duration: Double?

  /// Seconds for which every census may fail: a program that has just started, or is stopped for a while.
  static let patience = 10.0

  /// Runs to the end; returns what was seen.
  func run(_ world: some WatchedWorld) throws(ToolError) -> (series: CountSeries, end: WatchEnd) {
    var series = CountSeries()
    let start = world.now
    let last = start + (duration ?? .infinity)
    var due = start
    var failing: (since: Double, error: ToolError)?
    while true {
      if let end = try world.wait(until: min(due, last)) { return (series, end) }
      let now = world.now
      // The last moment has a census, too.
      if now > last && series.taken > 0 { return (series, .time) }
      do throws(ToolError) {
        series.add(try world.census(), at: now - start)
        failing = nil
        world.show(status(series, seconds: now - start))
      } catch {
        // It may just have ended, which waiting shows.
        if let end = try world.wait(until: world.now + 0.05), end == .programEnded { return (series, end) }
        let since = failing?.since ?? now
        failing = (since, error)
        if error.status == ExitStatus.misuse || now - since >= max(Self.patience, 3 * every) { throw error }
      }
      if now >= last {
        // Where nothing was seen, the reason is all that there is to say.
        if let failing, series.taken == 0 { throw failing.error }
        return (series, .time)
      }
      // A census that took long is not made up for.
      due = max(due + every, world.now)
    }
  }

  private func status(_ series: CountSeries, seconds: Double) -> String {
    let all = series.newest?.amounts[TypeCounts.all] ?? TypeCounts.Amount()
    let limit = duration.map { " of \(Quantity.duration($0))" } ?? ""
    return
      "watching for \(Quantity.duration(seconds.rounded()))\(limit): \(Quantity.grouped(Int(clamping: all.count))) "
      + "blocks, \(Quantity.bytes(all.bytes))"
  }
}
