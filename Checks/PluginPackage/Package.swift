// swift-tools-version: 6.0
import PackageDescription

// A package that has Undead in its tests only, as README says; scripts/check/plugin copies it and names the repository, and the artifact
// bundle, which a package has by its URL and checksum otherwise.
let bundle = Context.environment["UNDEAD_BUNDLE"].map { [Target.binaryTarget(name: "undead", path: $0)] } ?? []
let package = Package(
  name: "Photos",
  products: [
    .library(name: "Photos", targets: ["Photos"]),
    // Before the other: both end alike.
    .executable(name: "OtherApp", targets: ["OtherApp"]),
  ],
  dependencies: [.package(url: Context.environment["UNDEAD_URL"] ?? "", branch: "main")],
  targets: bundle + [
    .target(name: "Photos"),
    .executableTarget(name: "App", dependencies: ["Photos"]),
    .executableTarget(name: "OtherApp"),
    .testTarget(name: "PhotosTests", dependencies: ["Photos", .product(name: "UndeadTesting", package: "undead")]),
    .testTarget(name: "PhotosXCTests", dependencies: ["Photos", .product(name: "UndeadXCTest", package: "undead")]),
  ]
)
