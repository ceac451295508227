// swift-tools-version: 6.2
import PackageDescription

// What a user's package looks like: a library, and tests of it that fail when something leaks.
let package = Package(
  name: "outside",
  dependencies: [.package(name: "undead", path: "../..")],
  targets: [
    .target(name: "Shop"),
    .testTarget(
      name: "ShopXCTests", dependencies: ["Shop", .product(name: "UndeadXCTest", package: "undead")]),
    .testTarget(
      name: "ShopTests", dependencies: ["Shop", .product(name: "UndeadTesting", package: "undead")]),
  ],
  swiftLanguageModes: [.v6]
)
