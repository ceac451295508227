import Foundation

/// Makes a run that fails shorter: fewer kinds of holders, one thread, fewer steps. Writes what is left as a program of its
/// own, if its holder needs nothing but Swift.
struct Shrinker {
  var options: Options
  private let environment = ProcessInfo.processInfo.environment

  init(_ options: Options) { self.options = options }

  mutating func run() {
    guard let first = failure(options, tries: 5) else {
      note("heap-truth: seed \(options.seed) does not fail in five runs")
      exit(0)
    }
    reduceKinds(mentionedIn: first)
    keep { $0.threads = 1 }
    keep { $0.forks = false }
    keep { $0.leaks = false }
    while options.steps > 1, keep({ $0.steps /= 2 }) {}
    while options.steps > 1, keep({ $0.steps -= 1 }) {}
    for count in [1, 2, 4, 8] where count < options.holders { if keep({ $0.holders = count }) { break } }
    note("heap-truth: this is enough: heap-truth \(options.words.joined(separator: " "))")
    options.traces = true
    guard let last = failure(options, tries: 5) else { return note("heap-truth: but not every time") }
    note(last)
    guard let text = Program().text(from: last, why: "Objects in \(options.kinds.joined(separator: ", ")).") else {
      return note("heap-truth: the holder needs C, or the run more than one holder's steps: write the program by hand")
    }
    print(text)
  }

  /// First the kinds that the reports name, one at a time; else halves of what there is.
  private mutating func reduceKinds(mentionedIn output: String) {
    let reports = output.split(separator: "\n").filter { $0.contains("FALSE REPORT") }
    for kind in kinds.map(\.name) where reports.contains(where: { $0.contains(" \(kind)") }) {
      if keep({ $0.kinds = [kind] }) { return }
    }
    var names = Choice.selected.flatMap { $0 }.map { kinds[$0].name }
    var size = names.count / 2
    while size > 0 {
      var start = 0
      while start < names.count, names.count > 1 {
        let fewer = Array(names[..<start] + names[min(start + size, names.count)...])
        if !fewer.isEmpty, keep({ $0.kinds = fewer }) { names = fewer } else { start += size }
      }
      size /= 2
    }
  }

  @discardableResult private mutating func keep(_ change: (inout Options) -> Void) -> Bool {
    var changed = options
    change(&changed)
    guard failure(changed, tries: 3) != nil else { return false }
    options = changed
    return true
  }

  /// What a run wrote in which something alive was reported; nil if there was none in so many runs.
  private func failure(_ options: Options, tries: Int) -> String? {
    for _ in 0..<tries {
      let process = Process()
      let pipe = Pipe()
      process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = options.words
      process.environment = environment
      process.standardError = pipe
      guard (try? process.run()) != nil else { return nil }
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      if output.contains("FALSE REPORT") { return output }
    }
    return nil
  }
}
