import ArgumentParser
import Testing

@testable import UndeadTool

/// Commands without options, which are made without the parser.
@Suite struct PlainCommandTests {
  @Test(arguments: [
    ["--", "true"], ["--", "true", "--help"], ["--", "--help"], ["--", "-h"], ["--", ""], ["--", "--"],
    ["--", "--", "true"], ["--", "true", "--format", "json", "--", "-x"], ["--", "--zombies"],
  ])
  func aRunIsWhatTheParserMakes(_ arguments: [String]) throws {
    let plain = try #require(PlainCommand.command(for: ["run"] + arguments) as? RunCommand)
    let parsed = values(of: try RunCommand.parse(arguments))
    #expect(values(of: plain) == parsed)
    #expect(parsed.count > 20 && !parsed.contains { $0.contains(" no ") })
  }

  @Test(arguments: [
    [], ["--"], ["--", "--parallel"], ["--", "--help"], ["--", "--filter", "Some", "--", "x"],
    ["--", "--format", "json"],
  ])
  func aTestIsWhatTheParserMakes(_ arguments: [String]) throws {
    let plain = try #require(PlainCommand.command(for: ["test"] + arguments) as? TestCommand)
    #expect(values(of: plain) == values(of: try TestCommand.parse(arguments)))
  }

  /// Everything else is the parser's: options, help, and what is wrong.
  @Test(arguments: [
    [], ["run"], ["run", "--"], ["run", "true"], ["run", "--help"], ["run", "--verbose", "--", "true"],
    ["test", "--help"], ["test", "--verbose"], ["test", "some"], ["leaks", "--"], ["--", "true"],
    ["watch", "--", "true"],
  ])
  func theRestIsParsed(_ arguments: [String]) {
    #expect(PlainCommand.command(for: arguments) == nil)
  }

  @Test func theToolTakesIt() throws {
    let command = try UndeadCommand.command(for: ["run", "--", "true"])
    #expect(values(of: command) == values(of: try RunCommand.parse(["--", "true"])))
  }

  /// The values of all options and arguments, by their path; an option that was given none shows as a function.
  private func values(of command: Any, at path: String = "") -> [String] {
    let children = Mirror(reflecting: command).children
    return children.flatMap { child -> [String] in
      let name = "\(path).\(child.label ?? "")"
      // Property wrappers of the parser: what is in them, not how they were declared.
      guard let parsed = Mirror(reflecting: child.value).descendant("_parsedValue") else {
        return ["\(name) is no option"]
      }
      guard let value = Mirror(reflecting: parsed).descendant("value") else { return ["\(name) has no value"] }
      return value is any ParsableArguments ? values(of: value, at: name) : ["\(name) = \(String(reflecting: value))"]
    }
  }
}
