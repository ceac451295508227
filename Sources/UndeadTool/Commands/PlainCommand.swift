import ArgumentParser
import UndeadReport

/// The commands that most runs are: `undead run -- PROGRAM ARGUMENTS...` and `undead test -- ARGUMENTS...`, with no option.
///
/// The parser finds out by reflection what options there are, which takes five times as long as all else that the tool does
/// for a short program. Where none is given, there is nothing to find out.
enum PlainCommand {
  /// The same command that the parser makes of these arguments of the tool; nil to ask the parser.
  static func command(for arguments: [String]) -> (any ParsableCommand)? {
    guard let verb = arguments.first else { return nil }
    let rest = Array(arguments.dropFirst())
    switch verb {
    case RunCommand.configuration.commandName where rest.count > 1 && rest[0] == "--":
      return RunCommand(plain: rest)
    case TestCommand.configuration.commandName where rest.isEmpty || rest[0] == "--":
      return TestCommand(plain: rest)
    default: return nil
    }
  }
}

extension RunCommand {
  fileprivate init(plain command: [String]) {
    self.init()
    report = .plain
    verdict = .plain
    zombies = .plain
    findings = .plain
    memory = .plain
    stacks = .plain
    sample = nil
    kept = .plain
    snapshotSignal = nil
    self.command = command
  }
}

extension TestCommand {
  fileprivate init(plain arguments: [String]) {
    self.init()
    report = .plain
    verdict = .plain
    zombies = .plain
    findings = .plain
    stacks = .plain
    self.arguments = arguments
  }
}

// MARK: Options

// An option group whose options were not parsed cannot be read: each is set to what its declaration says.

extension DisplayOptions {
  fileprivate static var plain: DisplayOptions {
    var options = DisplayOptions()
    options.format = .text
    options.output = nil
    options.furtherReports = []
    options.suppressions = []
    options.noSuppressions = false
    options.generateSuppressions = false
    options.baseline = nil
    options.updateBaseline = false
    options.noStacks = false
    options.explain = false
    options.depth = nil
    options.top = nil
    options.all = false
    options.minCount = 1
    options.color = .auto
    options.verbose = false
    options.quiet = false
    return options
  }
}

extension VerdictOptions {
  fileprivate static var plain: VerdictOptions {
    var options = VerdictOptions()
    options.failOn = FailureCondition.standard
    options.exitCode = ExitStatus.findings
    return options
  }
}

extension ZombieOptions {
  fileprivate static var plain: ZombieOptions {
    var options = ZombieOptions()
    options.zombies = false
    options.zombieMode = nil
    options.zombiePolicy = nil
    options.zombieRate = nil
    options.zombieTypes = nil
    options.zombieBytes = nil
    options.zombieCount = nil
    options.zombieAge = nil
    options.zombieAllow = nil
    options.zombieDeny = nil
    options.zombieGuard = nil
    return options
  }
}

extension FindingOptions {
  fileprivate static var plain: FindingOptions {
    var options = FindingOptions()
    options.onFinding = nil
    return options
  }
}

extension MemoryOptions {
  fileprivate static var plain: MemoryOptions {
    var options = MemoryOptions()
    options.snapshotAt = nil
    options.snapshotEvery = 600_000
    options.snapshotKeep = 3
    return options
  }
}

extension StackOptions {
  fileprivate static var plain: StackOptions {
    var options = StackOptions()
    options.stacks = nil
    return options
  }
}

extension KeptFiles {
  fileprivate static var plain: KeptFiles {
    var options = KeptFiles()
    options.save = nil
    options.heap = nil
    return options
  }
}
