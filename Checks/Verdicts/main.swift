// Programs whose memory is of one kind, for scripts/check/verdicts: `app KIND FORM`; without arguments it lists all of them. Each line
// on standard input is answered by one: "trim" asks malloc to give memory back, and the answer is how many bytes the process became
// smaller by; "more" does what the program does once more.
import Foundation

@_silgen_name("malloc_trim") func trimMalloc(_ pad: Int) -> Int32

func resident() -> Int {
  let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
  return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4096
}

if CommandLine.arguments.count < 3 {
  for (kind, forms) in programs.sorted(by: { $0.key < $1.key }) {
    for form in forms.keys.sorted() { print(kind, form) }
  }
  exit(0)
}
guard let work = programs[CommandLine.arguments[1]]?[CommandLine.arguments[2]] else { fatalError("no such program") }
// The first look at a file has a price of its own.
_ = resident()
work()
print("ready")
fflush(stdout)
while let line = readLine() {
  let before = resident()
  if line == "trim" { _ = trimMalloc(0) } else { work() }
  print(before - resident())
  fflush(stdout)
}
