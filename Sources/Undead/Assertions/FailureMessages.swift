import UndeadReport

extension HeapGrowth.Growth {
  /// The message of a failed test; files in `directory` are shown relative to it.
  package func message(directory: String) -> String {
    let numbers = counts.map(String.init).joined(separator: ", ")
    let place = Blame.place(of: example).map { "  in         \($0)\n" } ?? ""
    return "growth: more \(type) after each repetition: \(numbers)\n" + place
      + FailureText.text(example, directory: directory)
  }
}

extension LiveObjects {
  /// The message of a failed test; files in `directory` are shown relative to it.
  package func message(type: String, limit: Int, directory: String) -> String {
    let title = "\(count) objects of \(type) are alive, not \(limit == 0 ? "none" : "at most \(limit)")"
    return ([title] + examples.map { FailureText.text($0, directory: directory) }).joined(separator: "\n")
  }
}

extension TrackingResult {
  /// The message of a failed test for one of the survivors; files in `directory` are shown relative to it.
  package func message(_ survivor: Survivor, directory: String) -> String {
    FailureText.text(survivor.leak, directory: directory) + notes.map { "\n  note       \($0)" }.joined()
  }
}
