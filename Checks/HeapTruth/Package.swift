// swift-tools-version: 6.2
import PackageDescription

// A program that knows which of its objects are alive and compares what the tool says with it. It does not link Undead:
// the library under test is preloaded.
let package = Package(
  name: "heap-truth",
  products: [
    .executable(name: "heap-truth", targets: ["heap-truth"]),
    .executable(name: "function-writer", targets: ["function-writer"]),
    .library(name: "HeapTruthPlugin", type: .dynamic, targets: ["HeapTruthPlugin"]),
  ],
  targets: [
    .target(name: "CHeapTruth"),
    .target(name: "HeapTruthPlugin"),
    .executableTarget(name: "heap-truth", dependencies: ["CHeapTruth"], path: "Sources/HeapTruth"),
    // Writes programs; what they all have is in Functions.
    .executableTarget(name: "function-writer", path: "Sources/FunctionWriter"),
  ],
  swiftLanguageModes: [.v6]
)
