import Glibc
import UndeadReport

/// The parts of the tool, and whether they work together.
enum ToolChecks {
  static func all() -> [Diagnosis] {
    var findings = [toolchain(), symbolizer()]
    do throws(ToolError) {
      let library = try PreloadLibrary.ofThisTool()
      findings += check(library)
    } catch {
      findings.append(.fail("library", error.message, "install the tool with scripts/install"))
    }
    return findings
  }

  private static func toolchain() -> Diagnosis {
    do throws(ToolError) {
      return .ok("toolchain", "swift is '\(try ProgramLookup.find("swift", path: System.environment("PATH")))'")
    } catch {
      return .warn("toolchain", "there is no 'swift' in PATH", "'undead test' needs one; 'undead run' does not")
    }
  }

  private static func symbolizer() -> Diagnosis {
    guard let tool = SymbolizerTool.find(environment: System.environment) else {
      return .warn(
        "symbolizer",
        System.environment("UNDEAD_SYMBOLIZER").map { "UNDEAD_SYMBOLIZER=\($0) cannot be run" }
          ?? "there is no llvm-symbolizer: reports have functions, but no files and lines",
        "put the 'swift' of a toolchain in PATH, install the package 'llvm', or set UNDEAD_SYMBOLIZER")
    }
    return .ok("symbolizer", "'\(tool.path)'")
  }

  // MARK: A leak that is known

  private static func check(_ library: PreloadLibrary) -> [Diagnosis] {
    if System.environment("UNDEAD") == "0" {
      return [.fail("check", "UNDEAD=0 in the environment turns the instrument off", "unset UNDEAD")]
    }
    do throws(ToolError) {
      let result = try Patient.check(by: library)
      return [version(result.snapshot.metadata("toolVersion"), library)] + findings(of: result)
    } catch {
      return [
        .fail(
          "check", "a program that leaks was not checked: \(error.message)",
          "run 'undead run --verbose -- PROGRAM' to see more, and report it")
      ]
    }
  }

  static func version(_ version: String?, _ library: PreloadLibrary) -> Diagnosis {
    guard version == UndeadCommand.version else {
      return .fail(
        "library", "'\(library.path)' is of version \(version ?? "unknown"), this tool of \(UndeadCommand.version)",
        "install both with scripts/install")
    }
    return .ok("library", "'\(library.path)', of this tool's version")
  }

  static func findings(of result: Patient.Result) -> [Diagnosis] {
    var findings: [Diagnosis] = []
    let time = "\(Int(result.seconds * 1000)) ms"
    // The tool's own: linked into it, or a shared library.
    let runtime =
      result.snapshot.modules.map(\.path).first { $0.hasSuffix("/libswiftCore.so") } ?? result.snapshot.executablePath
    let premises = result.snapshot.premises
    if let failed = premises?.failed.first {
      findings.append(
        .fail(
          "check", failed,
          "this version does not know the runtime '\(runtime)' or this C library: get a newer one, or report it"))
    } else if result.isRight {
      findings.append(
        .ok("check", "a leak in a program of the tool's own was found, with types and fields, in \(time)"))
      let known = premises.map { ": \($0.checked) facts hold" } ?? ""
      findings.append(.ok("runtime", "the layouts of '\(runtime)' are known\(known)"))
    } else {
      findings.append(
        .fail(
          "check", "a leak in a program of the tool's own was not found as it is, with the runtime '\(runtime)'",
          "the layouts of this runtime are not known to this version: build the tool with the program's toolchain, and report it"
        ))
    }
    if result.snapshot.metadata("stopMethod") == "signals" {
      findings.append(
        .warn(
          "stop", "threads were stopped by signals, not by ptrace: sleeping calls of the program return early",
          "allow ptrace (see above)"))
    }
    findings.append(names(of: result))
    return findings
  }

  /// Whether the report says which function allocated the leak.
  private static func names(of result: Patient.Result) -> Diagnosis {
    guard result.namesFunction else {
      return .warn(
        "names", "the function that made the leak was not named",
        "reports have addresses or mangled names: install the tool with scripts/install, and do not strip it")
    }
    let addresses = result.snapshot.lookupAddresses.count
    return .ok("names", "\(addresses) addresses of code were named in \(Int(result.symbolSeconds * 1000)) ms")
  }
}
