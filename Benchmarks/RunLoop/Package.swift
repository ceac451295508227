// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "runloop-bench",
  dependencies: [
    .package(name: "undead", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "runloop-bench",
      dependencies: [
        .product(name: "UndeadRunLoop", package: "undead"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
