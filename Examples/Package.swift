// swift-tools-version: 6.2
import PackageDescription

// The programs do not depend on the instrument: the tool examines programs as they are. Only the tests use it, and the
// scenarios about timers use the run loop and owner scopes.
let package = Package(
  name: "Examples",
  products: [
    .executable(name: "scenarios", targets: ["scenarios"]),
    .executable(name: "demo", targets: ["Demo"]),
  ],
  dependencies: [
    .package(name: "undead", path: "..")
  ],
  targets: [
    .target(name: "App"),
    .target(
      name: "RunLoopScenarios",
      dependencies: [.product(name: "Undead", package: "undead"), .product(name: "UndeadRunLoop", package: "undead")]),
    .executableTarget(name: "scenarios", dependencies: ["App", "RunLoopScenarios"]),
    .executableTarget(name: "Demo"),
    .testTarget(
      name: "ScenarioTests",
      dependencies: ["App", "scenarios", .product(name: "UndeadReport", package: "undead")]),
    .testTarget(name: "AssertionTests", dependencies: ["App", .product(name: "UndeadTesting", package: "undead")]),
    .testTarget(name: "RunLoopScenarioTests", dependencies: ["RunLoopScenarios"]),
  ],
  swiftLanguageModes: [.v6]
)
