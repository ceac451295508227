// swift-tools-version: 6.2
import PackageDescription

// Programs that work until they are ended, for scripts/check/refute: servers of packages from elsewhere, under load, and pipelines.
let package = Package(
  name: "Servers",
  dependencies: [
    .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
    .package(url: "https://github.com/grpc/grpc-swift-2", exact: "2.4.3"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
  ],
  targets: [
    .executableTarget(
      name: "FlyingFoxServer", dependencies: ["FlyingFox", .product(name: "FlyingSocks", package: "FlyingFox")]),
    .executableTarget(
      name: "GRPCServer",
      dependencies: [
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
      ]),
    .executableTarget(
      name: "Algorithms", dependencies: [.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")]),
  ],
  swiftLanguageModes: [.v6]
)
