/// What the zombie sniffer saw in a program and its children, with names: what a snapshot keeps of it.
package struct ZombieFindings: Codable, Sendable, Equatable {
  /// The uses of dead objects, in the order in which they were first seen.
  package var zombies: [LeakReport.Zombie]
  /// What the reader must know about uses that could not be seen, one sentence each.
  package var notes: [String]

  /// Makes findings; by default there are none.
  package init(zombies: [LeakReport.Zombie] = [], notes: [String] = []) {
    self.zombies = zombies
    self.notes = notes
  }

  /// Groups what the logs of a program and its children tell.
  package init(_ inputs: [ZombieInput]) {
    self.init()
    var builder = ZombieBuilder()
    for input in inputs {
      builder.add(input)
      let prefix = inputs.count > 1 ? "process \(input.log.pid): " : ""
      for note in ZombieNotes.notes(on: input.log) { add(note: prefix + note) }
    }
    zombies = builder.zombies
    if let note = ZombieNotes.general(inputs.map(\.log)) { notes.append(note) }
  }

  /// True if there is nothing to report.
  package var isEmpty: Bool { zombies.isEmpty && notes.isEmpty }

  /// Adds a note unless it is there.
  package mutating func add(note: String) {
    if !notes.contains(note) { notes.append(note) }
  }
}
