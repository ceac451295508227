/// Which backtraces a program under the tool records: `--stacks`.
struct StackOptions: ParsableArguments {
  enum Stacks: String, ExpressibleByArgument, CaseIterable {
    case full, sampled, none
  }

  @Option(
    "--stacks <full|sampled|none>",
    help:
      "Backtraces to record: full (of all blocks); sampled (of a sample of the blocks, see --sample); or none (the same "
      + "as --no-stacks). (default: full)", brief: "none: record no backtraces, which is faster")
  var stacks: Stacks?

  func leavesOut(_ report: DisplayOptions) -> Bool { stacks == Stacks.none || report.noStacks }

  func check(_ report: DisplayOptions, sample: SampleSetting?, zombies: ZombieOptions) throws {
    guard let stacks else { return }
    if report.noStacks, stacks != .none {
      throw ValidationError("--stacks \(stacks.rawValue) and --no-stacks: give only one of them")
    }
    if sample != nil, stacks != .sampled {
      throw ValidationError("--sample is of '--stacks sampled'; it does not go with '--stacks \(stacks.rawValue)'")
    }
    if zombies.isOn, !zombies.isSampled, stacks == .sampled {
      throw ValidationError(
        "--stacks sampled and --zombies do not go together: reports of zombies need the backtraces of all objects")
    }
  }

  /// What the library in the program reads from its environment (`Documentation/options.md`).
  var settings: [String: String] {
    stacks.map { ["UNDEAD_STACKS": $0.rawValue] } ?? [:]
  }
}
