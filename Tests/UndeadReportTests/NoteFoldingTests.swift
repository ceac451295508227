import Testing

@testable import UndeadReport

@Suite struct NoteFoldingTests {
  @Test func processesOfOneKindAreOneNote() {
    let killed = (0..<77).map {
      "process \(100 + $0) (tool --n=\($0) (x)) was not checked: it was killed, or ended neither by exit "
        + "nor by a return from main"
    }
    let running = (1...3).map { "process \($0) still runs and was not checked" }
    let notes = NoteFolding.folded(["first"] + killed.dropLast() + running + ["other"] + killed.suffix(1))
    #expect(
      notes == [
        "first",
        "77 processes were not checked: they were killed, or ended neither by exit nor by a return from main "
          + "(100 (tool --n=0 (x)), 101 (tool --n=1 (x)), 102 (tool --n=2 (x)) and 74 more)",
        "3 processes still run and were not checked (1, 2, 3)", "other",
      ])
  }

  @Test func notesOfFewStayAsTheyAre() {
    let notes = ["process 1 was not checked: it was killed", "process 2 was not checked: it was killed", "a", "a"]
    #expect(NoteFolding.folded(notes) == notes)
    let other = ["process 1: the check is incomplete", "process 2: other", "process x", "process 7 (open", "process"]
    #expect(NoteFolding.folded(other) == other)
  }

  @Test func otherNotesThatDifferInNumbersAreOneToo() {
    let notes = (1...9).map { "thread \($0) could not be stopped" }
    #expect(NoteFolding.folded(notes) == ["thread 1 could not be stopped (and 8 more of this kind)"])
  }

  @Test func jsonHasBothForms() throws {
    var report = LeakReport()
    report.summary.notes = (1...4).map { "process \($0): the check is incomplete: leaks may be missing" }
    let text = String(decoding: try JSONRenderer.render(report), as: UTF8.self)
    #expect(
      text.contains(
        "\"foldedNotes\" : [\n      \"4 processes: the check is incomplete: leaks may be missing (1, 2, 3 and 1 more)\""
      ))
    #expect(text.contains("\"process 4: the check"))
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
    report.summary.notes = []
    #expect(!String(decoding: try JSONRenderer.render(report), as: UTF8.self).contains("foldedNotes"))
  }
}
