import UndeadReport
import UndeadSystem

/// What came out, in a few words.
struct Verdict {
  enum Level: String { case bad, doubtful, good }

  var level: Level
  var text: String

  init(_ report: LeakReport) {
    let summary = report.summary
    var parts: [String] = []
    if summary.leaks > 0 { parts.append(Quantity.of(summary.leaks, "leak")) }
    if summary.zombies > 0 { parts.append(Quantity.of(summary.zombies, "zombie")) }
    let isMemoryLost = parts.isEmpty && summary.complete && summary.hasMemoryWithoutPlace
    if isMemoryLost { parts.append("no leaked objects; memory is lost, as noted") }
    if parts.isEmpty { parts.append(summary.complete ? "no leaks" : "no leaks found") }
    if summary.suspects > 0 { parts.append(Quantity.of(summary.suspects, "suspect")) }
    if !summary.complete { parts.append("check incomplete") }
    text = parts.joined(separator: ", ")
    level =
      summary.leaks > 0 || summary.zombies > 0
      ? .bad : summary.suspects > 0 || !summary.complete || isMemoryLost ? .doubtful : .good
  }
}
