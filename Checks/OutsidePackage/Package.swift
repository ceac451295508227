// swift-tools-version: 6.2
import PackageDescription

// What a user's package looks like: a library, and tests of it that fail when something leaks. Without traits Undead brings no
// other package with it.
let package = Package(
  name: "outside",
  dependencies: [.package(name: "undead", path: "../..", traits: [])],
  targets: [
    .target(name: "Shop"),
    // Programs with the run loop: without the instrument, and with it.
    .target(name: "Ticker", dependencies: [.product(name: "UndeadRunLoop", package: "undead")]),
    .executableTarget(name: "TickerAlone", dependencies: ["Ticker"]),
    .executableTarget(
      name: "TickerWatched",
      dependencies: [
        "Ticker", .product(name: "Undead", package: "undead"), .product(name: "UndeadRunLoop", package: "undead"),
      ]),
    .testTarget(
      name: "ShopXCTests", dependencies: ["Shop", .product(name: "UndeadXCTest", package: "undead")]),
    .testTarget(
      name: "ShopTests", dependencies: ["Shop", .product(name: "UndeadTesting", package: "undead")]),
    // Files that import both libraries, as while a package moves from one to the other.
    .testTarget(
      name: "ShopMixedTests",
      dependencies: [
        "Shop", .product(name: "UndeadTesting", package: "undead"), .product(name: "UndeadXCTest", package: "undead"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
