/// What a command line asks of the tool itself: help, the version, completions.
struct Answer: Error {
  let text: String
}
