import Undead

// What functions of `Undead` take and return has a name with that import alone; names of this file are its own.
struct Frame {}
struct Reference {}
struct Backtrace {}
struct Leak {}

func describe(_ report: LeakReport) -> String {
  let leaks: [LeakReport.Leak] = report.leaks
  let frames: [LeakReport.Frame] = leaks.flatMap(\.allocation.frames)
  return "\(report.summary.leaks) \(frames.count) \(Frame()) \(Reference()) \(Backtrace()) \(Leak())"
}

func check(_ options: ReportOptions) throws(UndeadError) -> (LeakSnapshot, LeakReport) {
  (try LeakDetector.snapshot(), try LeakDetector.checkForLeaks(options: options))
}

func describe(_ event: ZombieLog.Event) -> [LeakReport.Zombie] { ZombieSniffer.describe([event]) }
