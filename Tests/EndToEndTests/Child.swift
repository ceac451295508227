import Foundation
import UndeadTestSupport

/// How a process ended and what it wrote.
struct Outcome: Sendable {
  enum Ending: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }
  var ending: Ending
  var output: String
  var errors: String
}

struct ChildError: Error, CustomStringConvertible {
  var description: String
}

/// Runs a command of `/bin/sh` in a process group of its own, with its output in files.
/// - Parameters:
///   - environment: added to the environment of this process.
///   - deadline: when all of it is killed, and an error says what it wrote and where its threads were.
func runShell(
  _ command: String, environment: [String: String] = [:], deadline: Duration = .seconds(300)
) async throws -> Outcome {
  let directory = try TemporaryDirectory()
  var actions = posix_spawn_file_actions_t()
  var attributes = posix_spawnattr_t()
  posix_spawn_file_actions_init(&actions)
  posix_spawnattr_init(&attributes)
  defer {
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
  }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 1, directory.path("output"), O_WRONLY | O_CREAT, 0o600)
  posix_spawn_file_actions_addopen(&actions, 2, directory.path("errors"), O_WRONLY | O_CREAT, 0o600)
  // What other tests of this process have open at the moment is not for the program.
  for descriptor in Int32(3)..<256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
  var noSignals = sigset_t()
  var allSignals = sigset_t()
  sigemptyset(&noSignals)
  sigfillset(&allSignals)
  posix_spawnattr_setsigmask(&attributes, &noSignals)
  posix_spawnattr_setsigdefault(&attributes, &allSignals)
  let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
  posix_spawnattr_setflags(&attributes, Int16(flags))

  let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
  let strings = ["/bin/sh", "-c", command].map { (word: String) in strdup(word) }
  let pairs = variables.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") }
  defer { for string in strings + pairs { free(string) } }
  var child = pid_t()
  let failure = posix_spawn(&child, "/bin/sh", &actions, &attributes, strings + [nil], pairs + [nil])
  guard failure == 0 else {
    throw ChildError(description: "cannot start /bin/sh: \(String(cString: strerror(failure)))")
  }

  let status = try await wait(for: child, deadline: deadline) { stacks in
    let output = directory.contents("output").suffix(4000) + directory.contents("errors").suffix(4000)
    return ChildError(description: "not over after \(deadline): \(command)\n\(output)\n\(stacks)")
  }
  let ending: Outcome.Ending = status & 0x7f == 0 ? .exit((status >> 8) & 0xff) : .signal(status & 0x7f)
  return Outcome(ending: ending, output: directory.contents("output"), errors: directory.contents("errors"))
}

private func wait(
  for child: pid_t, deadline: Duration, failure: (_ stacks: String) -> ChildError
) async throws -> Int32 {
  let end = ContinuousClock.now + deadline
  var status: Int32 = 0
  while waitpid(child, &status, WNOHANG) == 0 {
    if ContinuousClock.now > end {
      let stacks = Deadline.endWithStacks(child)
      kill(-child, SIGKILL)
      waitpid(child, &status, 0)
      throw failure(stacks)
    }
    // A cancelled sleep only makes this loop turn faster until the deadline.
    try? await Task.sleep(for: .milliseconds(5))
  }
  return status
}

/// Lets only so many run at a time: compilers and programs with hundreds of threads do not mix well.
actor Gate {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }

  nonisolated func pass<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    await enter()
    do {
      let value = try await body()
      await leave()
      return value
    } catch {
      await leave()
      throw error
    }
  }
}
