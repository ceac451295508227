import Glibc
import UndeadReport

/// Tells the programs that SwiftPM builds of tests from those that the tests start.
enum TestPrograms {
  /// True for `NamePackageTests.xctest` of SwiftPM's own build system and `Name-test-runner` of Swift Build.
  static func contains(_ executable: String) -> Bool {
    executable.hasSuffix(".xctest") || executable.hasSuffix("-test-runner")
  }
}

/// Tells the programs of the Swift toolchain (`swift test`, the compiler it calls) from those that a user wants to check.
enum ToolchainProcesses {
  /// True if the executable lies beside the Swift compiler.
  static func contains(_ executable: String) -> Bool {
    guard let slash = executable.lastIndex(of: "/") else { return false }
    return access("\(executable[..<slash])/swift-frontend", F_OK) == 0
  }

  /// Empties the snapshots of toolchain programs where others are among them; else a run of such a program shows its own.
  ///
  /// - Returns: what the reader of the report must know, if anything was left out.
  static func leaveOut(of snapshots: inout [Snapshot]) -> String? {
    let own = snapshots.indices.filter { contains(snapshots[$0].executablePath) }
    guard !own.isEmpty, own.count < snapshots.count else { return nil }
    for index in own { snapshots[index].removeFindings() }
    return "not reported: what \(own.count) process\(own.count == 1 ? "" : "es") of the Swift toolchain itself leaked"
  }
}
