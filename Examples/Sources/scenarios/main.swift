import App
import Foundation

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.dropFirst().first) {
case ("list", nil):
  for scenario in Scenario.all { print("\(scenario)\n     \(scenario.verdict)") }
case ("run", let number?) where !Scenario.matching(number).isEmpty:
  for scenario in Scenario.matching(number) {
    print(scenario)
    try await scenario.run()
  }
case ("run", let number?):
  FileHandle.standardError.write(Data("no scenario \(number); see `scenarios list`\n".utf8))
  exit(64)
default:
  FileHandle.standardError.write(Data("usage: scenarios list | scenarios run NUMBER (29, or 29.3)\n".utf8))
  exit(64)
}
