import Foundation

/// What a program of the corpus must lead to, as the comments of its source say: at its top, or above what leaks.
///
/// One directive a line, each starting with `// `:
///
///     EXPECT silent                      no leak, no suspect
///     EXPECT leak KEY=VALUE...           a group in `leaks`; also `known` and `suspect`, joined by `|` where either will do
///     EXPECT note TEXT                   a note of the report has this text in it
///     EXPECT zombie KEY=VALUE...         a group in `zombies`, see `ZombieJudge`
///     EXPECT crash                       the program dies of SIGILL, SIGTRAP, SIGABRT or SIGSEGV; `or=N`: or exits with N
///     EXPECT any                         only the program's own behaviour is checked
///     EXPECT unchecked                   the program ended without a check, and the report says so
///     EXPECT exit N / EXPECT signal N    how the program ends; exit 0 otherwise
///     MODULE Name, FLAGS ..., ARGS ...   module name (App), compiler flags, arguments ($DIRECTORY: where it was built)
///     SHELL text                         shell command with $RUN for the program, started by the tool or not
///     PLUGIN File.swift                  source of a dynamic library that is built beside the program
///     LIBRARY File.swift FLAGS...        the same, as a module of its name that the program imports and is linked with
///     HEADER File.h                      C functions that the program uses, all of them in this header
///     OPTIONS ...                        options of `undead run` for this program
///     CASE name                          what follows, up to the next case, is for this one: a program with cases is run for each
///
/// `in=debug` or `in=release` in an EXPECT restricts it to that configuration.
///
/// Keys of a group, with alternatives joined by `|` and lists by `,`: `kind`; `types` (each is among the types of the
/// group, `*` matches anything); `fields` (each begins the field of an edge of the cycle, `a~b` also contains `b`);
/// `also` (types of `alsoLeaked`); `count`; `at` (an allocation frame is on a line marked `// @name`); `closure` (part of
/// the symbol of a closure in the chain); `closureAt` (such a closure is on a line with this mark); `advice` (a word of it).
struct Expectation: Equatable {
  struct Group: Equatable {
    var sections: Set<String> = []
    var values: [String: String] = [:]

    /// The alternatives of each element of the list under `key`.
    func list(_ key: String) -> [[String]] {
      guard let value = values[key] else { return [] }
      return Self.split(value, at: ",").map { $0.split(separator: "|").map(String.init) }
    }

    /// Splits at a separator that is outside of angle brackets and parentheses.
    private static func split(_ text: String, at separator: Character) -> [String] {
      var parts = [""]
      var depth = 0
      for character in text {
        if "<(".contains(character) { depth += 1 }
        if ">)".contains(character) { depth -= 1 }
        if character == separator && depth == 0 {
          parts.append("")
        } else {
          parts[parts.count - 1].append(character)
        }
      }
      return parts
    }
  }

  enum Ending: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  enum Check: Equatable {
    case report
    case programOnly
    case unchecked
  }

  /// The program may end by a crash, or with this exit status.
  struct Crash: Equatable {
    var orExit: Int32?
  }

  var groups: [Group] = []
  var notes: [String] = []
  var zombies: [Group] = []
  var crash: Crash?
  var ending = Ending.exit(0)
  var check = Check.report
  var module = "App"
  var flags: [String] = []
  var arguments: String?
  var options: [String] = []
  var shell = "exec $RUN"
  var plugin: String?
  /// The source of a library and further flags to compile it.
  var library: [String] = []
  var header: String?
  /// Whether the program calls the entries for tests of the library that it runs under.
  var usesTestEntry = false

  struct Mistake: Error, CustomStringConvertible {
    var line: String
    var description: String { "cannot read the directive: \(line)" }
  }

  /// Reads the directives in the comments that begin a line.
  /// - Parameters:
  ///   - configuration: `debug` or `release`; nil takes the directives of both.
  ///   - name: the case whose directives hold beside those before the first one.
  /// - Throws: `Mistake` for a directive that is not in the grammar, or if nothing is expected.
  init(source: String, configuration: String? = nil, case name: String? = nil) throws {
    usesTestEntry = source.contains("undead_test_")
    var expectsSomething = false
    var present: String?
    for line in Self.comments(of: source) {
      let words = line.dropFirst(2).split(separator: " ").map(String.init)
      guard let directive = words.first else { continue }
      let rest = words.dropFirst().joined(separator: " ")
      if directive == "CASE" { present = rest }
      guard present == nil || present == name else { continue }
      switch directive {
      case "EXPECT":
        let wanted = words.first { $0.hasPrefix("in=") }?.dropFirst("in=".count)
        if wanted == nil || configuration == nil || wanted! == configuration! {
          try expect(words.dropFirst().filter { !$0.hasPrefix("in=") }, line)
        }
        expectsSomething = true
      case "MODULE": module = rest
      case "FLAGS": flags = Array(words.dropFirst())
      case "ARGS": arguments = rest
      case "SHELL": shell = rest
      case "PLUGIN": plugin = rest
      case "LIBRARY": library = Array(words.dropFirst())
      case "HEADER": header = rest
      case "OPTIONS": options = Array(words.dropFirst())
      default: continue
      }
    }
    guard expectsSomething else { throw Mistake(line: "no EXPECT") }
  }

  /// The names of the cases of a program, none for one that is run once.
  static func cases(of source: String) -> [String] {
    comments(of: source).compactMap { $0.hasPrefix("// CASE ") ? String($0.dropFirst("// CASE ".count)) : nil }
  }

  private static func comments(of source: String) -> [String] {
    source.split(separator: "\n").filter { $0.hasPrefix("// ") }.map(String.init)
  }

  private mutating func expect(_ words: [String], _ line: String) throws {
    guard let subject = words.first else { throw Mistake(line: line) }
    switch subject {
    case "silent": check = .report
    case "any": check = .programOnly
    case "unchecked": check = .unchecked
    case "note":
      guard words.count > 1 else { throw Mistake(line: line) }
      notes.append(words.dropFirst().joined(separator: " "))
    case "exit", "signal":
      guard words.count == 2, let number = Int32(words[1]) else { throw Mistake(line: line) }
      ending = subject == "exit" ? .exit(number) : .signal(number)
    case "crash":
      let values = try Self.values(words.dropFirst(), among: ["or"], line)
      crash = Crash(orExit: values["or"].flatMap { Int32($0) })
    case "zombie":
      zombies.append(Group(values: try Self.values(words.dropFirst(), among: ZombieJudge.keys, line)))
    default:
      var group = Group(sections: Set(subject.split(separator: "|").map(String.init)))
      guard group.sections.isSubset(of: ["leak", "known", "suspect"]) else { throw Mistake(line: line) }
      group.values = try Self.values(words.dropFirst(), among: Self.keys, line)
      groups.append(group)
    }
  }

  private static let keys: Set = ["kind", "types", "fields", "also", "count", "at", "closure", "closureAt", "advice"]

  private static func values(
    _ words: some Sequence<String>, among keys: Set<String>, _ line: String
  ) throws -> [String: String] {
    var values: [String: String] = [:]
    for word in words {
      guard let sign = word.firstIndex(of: "=") else { throw Mistake(line: line) }
      let key = String(word[..<sign])
      guard keys.contains(key) else { throw Mistake(line: line) }
      values[key] = String(word[word.index(after: sign)...])
    }
    return values
  }
}
