// swift-tools-version: 6.2
import PackageDescription

// A user's package that supports more platforms than the instrument does: `scripts/check/unsupported` builds it as for one
// of the others.
let package = Package(
  name: "elsewhere",
  platforms: [.macOS(.v13), .iOS(.v16)],
  dependencies: [.package(name: "undead", path: "../..")],
  targets: [
    .target(name: "Cart"),
    .testTarget(
      name: "CartTests",
      dependencies: [
        "Cart", .product(name: "Undead", package: "undead"), .product(name: "UndeadTesting", package: "undead"),
        .product(name: "UndeadReport", package: "undead"),
        .product(name: "UndeadService", package: "undead"), .product(name: "UndeadMetrics", package: "undead"),
        .product(name: "UndeadRunLoop", package: "undead"), .product(name: "UndeadRunLoopTesting", package: "undead"),
      ]),
    .testTarget(name: "CartXCTests", dependencies: ["Cart", .product(name: "UndeadXCTest", package: "undead")]),
  ],
  swiftLanguageModes: [.v6]
)
