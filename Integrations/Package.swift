// swift-tools-version: 6.2
import PackageDescription

// Undead behind the HTTP servers that Swift programs have; a package of its own, so that who needs none fetches none.
let package = Package(
  name: "undead-integrations",
  products: [
    .library(name: "UndeadNIO", targets: ["UndeadNIO"]),
    .library(name: "UndeadHummingbird", targets: ["UndeadHummingbird"]),
  ],
  dependencies: [
    .package(name: "undead", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.15.0"),
  ],
  targets: [
    .target(
      name: "UndeadNIO",
      dependencies: [
        .product(name: "UndeadService", package: "undead"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    .target(
      name: "UndeadHummingbird",
      dependencies: [
        .product(name: "UndeadService", package: "undead"), .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .executableTarget(
      name: "ExampleServer",
      dependencies: [
        "UndeadHummingbird", .product(name: "Undead", package: "undead"),
        .product(name: "UndeadService", package: "undead"), .product(name: "Hummingbird", package: "hummingbird"),
      ]),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "ExampleServer", "UndeadHummingbird", "UndeadNIO", .product(name: "UndeadService", package: "undead"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
