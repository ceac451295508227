// swift-tools-version: 6.2
import PackageDescription

// The programs do not depend on the instrument: the tool examines programs as they are. Only the scenarios about timers
// use it, for owner scopes and the run loop, and the tests.
let package = Package(
  name: "Examples",
  products: [
    .executable(name: "scenarios", targets: ["scenarios"]),
    .executable(name: "demo", targets: ["Demo"]),
  ],
  dependencies: [
    .package(name: "undead", path: "..", traits: [])
  ],
  targets: [
    .target(name: "App"),
    .target(
      name: "RunLoopScenarios",
      dependencies: [.product(name: "Undead", package: "undead"), .product(name: "UndeadRunLoop", package: "undead")]),
    .target(name: "ZombieScenarios", dependencies: [.product(name: "UndeadRunLoop", package: "undead")]),
    .executableTarget(name: "scenarios", dependencies: ["App", "RunLoopScenarios", "ZombieScenarios"]),
    .executableTarget(name: "Demo"),
    .target(
      name: "ToolRunner", dependencies: [.product(name: "UndeadReport", package: "undead")], path: "Tests/ToolRunner"),
    .testTarget(
      name: "ScenarioTests",
      dependencies: [
        "App", "RunLoopScenarios", "ToolRunner", "scenarios", .product(name: "UndeadReport", package: "undead"),
      ]),
    .testTarget(name: "AssertionTests", dependencies: ["App", .product(name: "UndeadTesting", package: "undead")]),
    .testTarget(name: "RunLoopScenarioTests", dependencies: ["RunLoopScenarios"]),
    .testTarget(
      name: "ZombieScenarioTests",
      dependencies: ["ToolRunner", "ZombieScenarios", "scenarios", .product(name: "UndeadReport", package: "undead")]),
  ],
  swiftLanguageModes: [.v6]
)
