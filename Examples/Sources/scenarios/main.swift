import App
import Foundation
import RunLoopScenarios
import ZombieScenarios

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.dropFirst().first) {
case ("list", nil):
  for scenario in RunLoopScenario.all {
    print("\(scenario)\n     \(scenario.verdict)")
  }
  for scenario in ZombieScenario.all { print("\(scenario)\n     \(scenario.verdict)") }
  for scenario in Scenario.all { print("\(scenario)\n     \(scenario.verdict)") }
case ("run", let number?) where !Scenario.matching(number).isEmpty:
  for scenario in Scenario.matching(number) {
    print(scenario)
    try await scenario.run()
  }
case ("run", let number?) where RunLoopScenario.all.contains { "\($0.number)" == number }:
  for scenario in RunLoopScenario.all where "\(scenario.number)" == number {
    print(scenario)
    _ = try scenario.run(.current)
  }
case ("run", let number?) where !ZombieScenario.matching(number).isEmpty:
  for scenario in ZombieScenario.matching(number) {
    print(scenario)
    try scenario.run()
  }
case ("run", let number?):
  FileHandle.standardError.write(Data("no scenario \(number); see `scenarios list`\n".utf8))
  exit(64)
default:
  FileHandle.standardError.write(Data("usage: scenarios list | scenarios run NUMBER (29, or 29.3)\n".utf8))
  exit(64)
}
