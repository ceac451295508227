// swift-tools-version: 6.2
import PackageDescription

// Declarations that users see and others, for scripts/check/api-self-test, which takes some of them away.
let package = Package(
  name: "Kiosk",
  products: [.library(name: "Kiosk", targets: ["Kiosk"])],
  targets: [.target(name: "Kiosk")]
)
