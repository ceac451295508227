// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "LeakyPackage",
  targets: [
    .target(name: "Library"),
    .testTarget(name: "XCTests", dependencies: ["Library"]),
    .testTarget(name: "TestingTests", dependencies: ["Library"]),
  ],
  swiftLanguageModes: [.v6])
