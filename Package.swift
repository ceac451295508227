// swift-tools-version: 6.2
import PackageDescription

// UNDEAD_WITHOUT_INSTRUMENT=1 builds here what other platforms get (Documentation/platforms.md).
let isWithoutInstrument = Context.environment["UNDEAD_WITHOUT_INSTRUMENT"] == "1"

// Those who change this package may set UNDEAD_INCREMENTAL=1: then a change of one file compiles that, and what depends on it.
let isIncremental = Context.environment["UNDEAD_INCREMENTAL"] == "1"

// The tool is built on the machine that it runs on, and works on one kind. What the libraries are built for is no business
// of this file: a manifest sees the machine that builds.
#if os(Linux) && arch(x86_64)
  let hasTool = !isWithoutInstrument
#else
  let hasTool = false
#endif

// A directory with libraries that the tool is linked with before those of the system: the static one of C++, with which, and without
// relocations, the tool starts faster, or all that it takes to start with an old C library. scripts/undead names it.
let toolLibraries = Context.environment["UNDEAD_TOOL_LIBRARIES"]

let preloadLink = Context.packageDirectory + "/Sources/UndeadPreload/Link"

let package = Package(
  name: "undead",
  // Those with `Duration` and `Clock`, which assertions have in their parameters.
  platforms: [.macOS(.v13), .macCatalyst(.v16), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "Undead", targets: ["Undead"]),
    .library(name: "UndeadReport", targets: ["UndeadReport"]),
    .library(name: "UndeadRunLoop", targets: ["UndeadRunLoop"]),
    .library(name: "UndeadRunLoopTesting", targets: ["UndeadRunLoopTesting"]),
    .library(name: "UndeadService", targets: ["UndeadService"]),
    .library(name: "UndeadServiceAnalysis", targets: ["UndeadServiceAnalysis"]),
    .library(name: "UndeadMetrics", targets: ["UndeadMetrics"]),
    .library(name: "UndeadPreload", type: .dynamic, targets: ["UndeadPreload"]),
    .library(name: "UndeadXCTest", targets: ["UndeadXCTest"]),
    .library(name: "UndeadTesting", targets: ["UndeadTesting"]),
    .executable(name: "undead", targets: ["UndeadTool"]),
    .plugin(name: "UndeadCommandPlugin", targets: ["UndeadCommandPlugin"]),
  ],
  // The only product that needs another package. Those who depend on this one with `traits: []` resolve no other.
  traits: [
    .default(enabledTraits: ["Metrics"]),
    .trait(name: "Metrics", description: "UndeadMetrics, by swift-metrics."),
  ],
  dependencies: [.package(url: "https://github.com/apple/swift-metrics", from: "2.5.0")],
  targets: [
    // For tests alone. Its module names the library to link: nothing is asked of pkg-config.
    .systemLibrary(name: "CUnwind", providers: [.apt(["libunwind-dev"])]),
    // What others know of the instrument without linking it. Nothing of its hooks is here.
    .target(name: "CUndeadInterface"),
    // The instrument, from the bottom up: a layer sees the headers in `include` of those that it names, and no others.
    .instrument("CUndeadPlatform", uses: ["CUndeadInterface"]),
    .instrument("CUndeadRecord", uses: ["CUndeadPlatform"]),
    .instrument("CUndeadWorld", uses: ["CUndeadPlatform", "CUndeadRecord"]),
    .instrument("CUndeadRuntime", uses: ["CUndeadPlatform"]),
    .instrument("CUndeadScan", uses: ["CUndeadPlatform", "CUndeadRecord", "CUndeadWorld", "CUndeadRuntime"]),
    .instrument("CUndeadZombies", uses: ["CUndeadPlatform", "CUndeadRecord", "CUndeadRuntime"]),
    .instrument(
      "CUndead",
      uses: [
        "CUndeadInterface", "CUndeadPlatform", "CUndeadRecord", "CUndeadWorld", "CUndeadRuntime", "CUndeadScan",
        "CUndeadZombies",
      ]),
    // What tests ask of the layers below. It is compiled in debug builds only, and is no part of any library but the one that is
    // preloaded.
    .target(
      name: "CUndeadTestEntry", dependencies: ["CUndead"], path: "Tests/CUndeadTestEntry",
      cSettings: ["CUndead", "CUndeadScan", "CUndeadRuntime"].map { .headerSearchPath("../../Sources/\($0)") } + [
        .define("UNDEAD_TEST_ENTRY", .when(configuration: .debug)),
        .unsafeFlags(["-O2"], .when(configuration: .debug)),
      ]),
    .target(
      name: "UndeadPreload",
      dependencies: ["CUndead", "CUndeadTestEntry"], exclude: ["Link"],
      // A preloaded library must not drag the Swift runtime into bash or into a static program.
      // Its functions must not be replaced by those of a copy that is linked into the program. Their own calls are bound
      // at once: the loader would need more of a small stack than they do. It exports what Link/exports.map names, and needs
      // no other library than that of C: the static ones of C++ and of mathematics in Link, which hide the system's, are empty.
      linkerSettings: [
        .unsafeFlags(
          [
            "-nostartfiles", "-static-stdlib", "-Xlinker", "-Bsymbolic", "-Xlinker", "-z", "-Xlinker", "now",
            "-L", "\(preloadLink)", "-Xlinker", "--version-script=\(preloadLink)/exports.map",
          ], .when(platforms: [.linux]))
      ]),
    // What lies below all Swift code: the C library and a lock under one name, starting of processes, the formats that Linux
    // has programs and memory maps in.
    .target(name: "UndeadSystem"),
    .target(name: "UndeadReport", dependencies: ["CUndeadInterface", "UndeadSystem"]),
    // What the tool writes of reports besides text and JSON, and of several: no test target builds it.
    .target(name: "UndeadFormats", dependencies: ["UndeadReport", "UndeadSystem"]),
    // Heap files as far as profiles need them, and copies of them: what a server links.
    .target(name: "UndeadHeapFile", dependencies: ["UndeadReport", "UndeadSystem"]),
    // What walks a heap.
    .target(name: "UndeadHeap", dependencies: ["CUndeadInterface", "UndeadHeapFile", "UndeadReport", "UndeadSystem"]),
    // Reports on a heap, on two, and on many censuses: nothing here looks at each block.
    .target(
      name: "UndeadHeapReport",
      dependencies: ["UndeadFormats", "UndeadHeap", "UndeadHeapFile", "UndeadReport", "UndeadSystem"]),
    .target(name: "Undead", dependencies: ["CUndead", "UndeadReport", "UndeadSystem"]),
    .target(name: "UndeadXCTest", dependencies: ["Undead", "UndeadReport", "UndeadSystem"]),
    .target(name: "UndeadTesting", dependencies: ["Undead", "UndeadReport", "UndeadSystem"]),
    .target(name: "CUndeadRunLoop"),
    .target(name: "UndeadRunLoop", dependencies: ["CUndeadInterface", "CUndeadRunLoop"]),
    // A run loop in virtual time for tests; needs Swift Testing.
    .target(name: "UndeadRunLoopTesting", dependencies: ["UndeadRunLoop"]),
    // Pages for people. Style sheet and script are compiled in: the tool is one file.
    .target(
      name: "UndeadPage", dependencies: ["UndeadHeap", "UndeadHeapReport", "UndeadReport", "UndeadSystem"],
      resources: [
        .embedInCode("Resources/page.css"), .embedInCode("Resources/page.js"), .embedInCode("Resources/heap.js"),
      ]),
    // Profiles in the format of pprof.
    .target(
      name: "UndeadProfile",
      dependencies: ["UndeadHeapFile", "UndeadReport", "UndeadSystem"]),
    // Processes that were not started under the tool: control of them, and copies of their memory.
    .target(
      name: "CUndeadTrace", dependencies: ["CUndeadInterface"],
      cSettings: [.headerSearchPath("../CUndeadPlatform/include")]),
    .target(name: "UndeadAttach", dependencies: ["CUndeadTrace", "UndeadSystem"]),
    // Answers for whatever server the owner of a program has, and a socket of its own.
    .target(
      name: "UndeadService",
      dependencies: ["Undead", "UndeadHeapFile", "UndeadProfile", "UndeadReport", "UndeadSystem"]),
    // Those for which the process analyses its own heap, with most of what the tool does.
    .target(
      name: "UndeadServiceAnalysis",
      dependencies: [
        "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadPage", "UndeadReport", "UndeadService",
        "UndeadSystem",
      ]),
    .target(
      name: "UndeadMetrics",
      dependencies: [
        "Undead", "UndeadHeapFile", "UndeadReport", "UndeadRunLoop",
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ]),
    .executableTarget(
      name: "UndeadTool",
      dependencies: [
        "UndeadAttach", "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadPage", "UndeadProfile",
        "UndeadReport", "UndeadSystem",
      ],
      linkerSettings: toolLibraries.map { directory in
        [
          .unsafeFlags([
            "-L", directory, "-Xclang-linker", "-B\(directory)", "-Xclang-linker", "-static-libgcc", "-Xclang-linker",
            "-no-pie",
          ])
        ]
      }),
    // `swift package undead ...` in a package that depends on this one; it builds the tool and its library.
    .plugin(
      name: "UndeadCommandPlugin",
      capability: .command(intent: .custom(verb: "undead", description: "Finds leaks of programs and tests.")),
      path: "Plugins/UndeadCommandPlugin"),
    .target(name: "UndeadTestSupport", path: "Tests/UndeadTestSupport"),
    .testTarget(
      name: "CUndeadTests",
      dependencies: ["CUndead", "CUndeadTestEntry", "CUnwind", "UndeadReport", "UndeadTestSupport"],
      exclude: ["Fixtures", "Programs"]),
    .target(
      name: "UndeadHeapSamples", dependencies: ["UndeadHeap", "UndeadReport", "UndeadTestSupport"],
      path: "Tests/UndeadHeapSamples"),
    // What writers of reports must stand, and how it is seen that they do: for tests and for fuzzing.
    .target(
      name: "UndeadHostileSamples",
      dependencies: [
        "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadHeapSamples", "UndeadPage", "UndeadProfile",
        "UndeadReport",
        "UndeadSystem",
      ],
      path: "Tests/UndeadHostileSamples"),
    // Readers of files and writers of reports, for coverage-guided fuzzing (scripts/check/fuzz).
    .executableTarget(
      name: "undead-fuzz",
      dependencies: [
        "UndeadAttach", "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadHeapSamples", "UndeadHostileSamples",
        "UndeadReport",
        "UndeadService", "UndeadSystem",
      ],
      path: "Checks/Fuzzing", exclude: ["Corpora"]),
    .testTarget(
      name: "UndeadReportTests", dependencies: ["UndeadFormats", "UndeadReport", "UndeadSystem", "UndeadTestSupport"],
      exclude: ["Formats"]),
    .testTarget(
      name: "UndeadHeapTests",
      dependencies: [
        "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadHeapSamples", "UndeadReport", "UndeadSystem",
        "UndeadTestSupport",
      ]),
    .testTarget(
      name: "UndeadPageTests",
      dependencies: [
        "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadHeapSamples", "UndeadHostileSamples", "UndeadPage",
        "UndeadReport",
        "UndeadSystem", "UndeadTestSupport",
      ],
      exclude: ["Browser", "Golden"]),
    .testTarget(name: "UndeadAttachTests", dependencies: ["UndeadAttach", "UndeadSystem", "UndeadTestSupport"]),
    .testTarget(
      name: "UndeadProfileTests",
      dependencies: [
        "UndeadHeap", "UndeadHeapSamples", "UndeadProfile", "UndeadReport", "UndeadTestSupport",
      ],
      exclude: ["profile.proto"]),
    .testTarget(
      name: "UndeadRunLoopTests", dependencies: ["UndeadRunLoop", "UndeadRunLoopTesting", "UndeadTestSupport"],
      exclude: ["README.md"]),
    .testTarget(name: "UndeadRunLoopTestingTests", dependencies: ["UndeadRunLoop", "UndeadRunLoopTesting"]),
    .testTarget(name: "UndeadTests", dependencies: ["CUndead", "Undead", "UndeadReport"]),
    .testTarget(
      name: "UndeadServiceTests",
      dependencies: [
        "Undead", "UndeadHeap", "UndeadHeapSamples", "UndeadProfile", "UndeadReport",
        "UndeadService",
        "UndeadServiceAnalysis", "UndeadTestSupport",
      ]),
    .testTarget(
      name: "UndeadMetricsTests",
      dependencies: [
        "Undead", "UndeadMetrics",
        .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ]),
    .testTarget(name: "UndeadXCTestTests", dependencies: ["UndeadXCTest"]),
    .testTarget(name: "UndeadTestingTests", dependencies: ["Undead", "UndeadTesting"]),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "UndeadFormats", "UndeadHeap", "UndeadHeapReport", "UndeadHeapSamples", "UndeadReport", "UndeadTestSupport",
        "UndeadTool",
      ],
      exclude: ["Fixtures"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["UndeadHeap", "UndeadHeapReport", "UndeadReport", "UndeadTestSupport", "UndeadTool"],
      exclude: ["Programs", "README.md"]),
  ],
  swiftLanguageModes: [.v6]
)

if isWithoutInstrument {
  for target in package.targets where target.type != .system && target.type != .plugin {
    target.cSettings = (target.cSettings ?? []) + [.define("UNDEAD_WITHOUT_INSTRUMENT")]
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("UNDEAD_WITHOUT_INSTRUMENT")]
  }
}

if !hasTool {
  // What is left is what others depend on, and a program that says that it is not the tool.
  let ofTool: Set = [
    "CUndeadTestEntry", "CUndeadTrace", "CUnwind", "UndeadAttach", "UndeadHeapSamples", "UndeadHostileSamples",
    "UndeadPreload", "UndeadTestSupport", "UndeadTool", "undead-fuzz",
  ]
  package.targets.removeAll { $0.type == .test || ofTool.contains($0.name) }
  package.targets.append(.executableTarget(name: "UndeadTool", path: "Sources/UndeadToolElsewhere"))
  package.products.removeAll { $0.name == "UndeadPreload" }
}

// `swift build` takes one product or builds everything. scripts/undead and scripts/demo build the tool and its library in one run: no
// processor waits while the last modules of the one are compiled.
if Context.environment["UNDEAD_ONLY_TOOL"] == "1" {
  package.products.removeAll { !["undead", "UndeadPreload"].contains($0.name) }
  var needed: Set<String> = []
  var rest = ["UndeadTool", "UndeadPreload"]
  while let name = rest.popLast() {
    guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    for case .byNameItem(let dependency, _) in target.dependencies { rest.append(dependency) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.dependencies = []
}

// How long the optimiser takes is noticed, how long a page, an answer, the reading of options or a call of the kernel takes is
// not: what walks a heap or a graph lies below these. Their modules are written by the job that compiles them, see below. Reports
// are analysed by the tens of thousands, but two passes find little there that others have not found.
for target in package.targets {
  switch target.name {
  case "UndeadAttach", "UndeadFormats", "UndeadHeapReport", "UndeadPage", "UndeadService", "UndeadServiceAnalysis",
    "UndeadTool":
    target.optimize("-Onone", "-assert-config", "Release", "-no-emit-module-separately-wmo")
  case "Undead", "UndeadProfile": target.optimize("-Osize")
  case "UndeadReport":
    target.optimize(
      "-Osize", "-Xllvm", "-sil-disable-pass=function-signature-opts", "-Xllvm", "-sil-disable-pass=closure-specialize")
  default: break
  }
}

// A debug build of a whole module takes half of the processor time of one file by file, and those who depend on this package build
// it once. The module is written by the job that compiles it: another one would read and check all sources again. The index for
// editors has what is declared here; each job would add what it imports of the toolchain, for as long as half of the job itself.
if !isIncremental {
  for target in package.targets {
    guard [.test, .executable].contains(target.type) || target.type == .regular && !target.name.hasPrefix("C") else {
      continue
    }
    target.swiftSettings =
      (target.swiftSettings ?? []) + [
        .unsafeFlags(
          [
            "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
            "-index-ignore-system-modules",
          ],
          .when(configuration: .debug))
      ]
  }
}

extension Target {
  /// Sets how a release build optimises the target.
  func optimize(_ flags: String...) {
    swiftSettings = (swiftSettings ?? []) + [.unsafeFlags(flags, .when(configuration: .release))]
  }

  /// A layer of the instrument. Its hooks run at every allocation, and tests mostly run in debug builds: those are
  /// optimised, too. From tools version 6.2 on, packages with unsafe flags may be depended on by version.
  /// `units` has a file for each folder, which includes the files of that: what they share is read once.
  static func instrument(_ name: String, uses layers: [Target.Dependency] = []) -> Target {
    .target(
      name: name, dependencies: layers, exclude: isIncremental ? ["units"] : [],
      sources: isIncremental ? nil : ["units"],
      cSettings: [
        // Backtraces need lines of it, nobody its variables: that saves a sixth of the time of the compiler.
        .headerSearchPath("."), .define("_GNU_SOURCE", to: ""),
        .unsafeFlags(["-O2", "-Xclang", "-debug-info-kind=line-tables-only"], .when(configuration: .debug)),
        // Assertions are for tests, not for each allocation.
        .define("NDEBUG", .when(configuration: .release)),
      ])
  }
}
