// swift-tools-version: 6.2
import PackageDescription

// The programs do not depend on Undead: the tool examines programs as they are. Only the tests use it.
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
    .executableTarget(name: "scenarios", dependencies: ["App"]),
    .executableTarget(name: "Demo"),
    .testTarget(
      name: "ScenarioTests",
      dependencies: ["App", "scenarios", .product(name: "UndeadReport", package: "undead")]),
  ],
  swiftLanguageModes: [.v6]
)
