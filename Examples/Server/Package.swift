// swift-tools-version: 6.2
import PackageDescription

// A server whose memory grows, with a leak and a dead object to be asked for, and visitors for it: scripts/measure/server-growth,
// scripts/measure/server-load.
let package = Package(
  name: "Server",
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1")
  ],
  targets: [
    .executableTarget(name: "Server", dependencies: [.product(name: "Hummingbird", package: "hummingbird")]),
    .executableTarget(name: "Visitors"),
  ],
  swiftLanguageModes: [.v6]
)
