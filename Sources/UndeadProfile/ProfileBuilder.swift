import UndeadReport
import UndeadSystem

/// What a profile shows first.
package enum ProfileView: Sendable {
  /// What is in memory.
  case inUse
  /// What was allocated since the start of the process, where that is known.
  case allocated
}

/// Puts a profile together: texts, functions, places of code and libraries once each.
struct ProfileBuilder {
  /// What a sample is distinguished by, beside its stack: texts by name. Numbers pprof would take for bytes, and 0 for none.
  typealias Labels = [String: String]

  private struct SampleKey: Hashable {
    var locations: [UInt64]
    var labels: Labels
  }

  private struct FunctionKey: Hashable {
    var name: String
    var file: String
  }

  private var profile = Profile()
  private var strings: [String: Int64] = ["": 0]
  private var functions: [FunctionKey: UInt64] = [:]
  private var mappings: [String: UInt64] = [:]
  private var locationsOfAddress: [UInt64: UInt64] = [:]
  private var locationsOfFrame: [Frame: UInt64] = [:]
  private var samples: [SampleKey: Values] = [:]
  private let commonLabels: Labels
  private let hasAllocations: Bool

  /// What a sample says; of what was allocated since the start only if that is known.
  struct Values: Equatable {
    var count: Int64 = 0
    var bytes: Int64 = 0
    var allocatedCount: Int64 = 0
    var allocatedBytes: Int64 = 0
  }

  /// - Parameters:
  ///   - labels: of every sample.
  ///   - sampleBytes: one allocation was sampled for so many bytes, on average, and it is known what was allocated since the
  ///     start, which is written as Go does; nil if all backtraces were kept.
  ///   - view: the kind of value that is shown first.
  init(labels: Labels = [:], sampleBytes: Int? = nil, view: ProfileView = .inUse) {
    commonLabels = labels
    hasAllocations = sampleBytes != nil
    if hasAllocations {
      profile.sampleTypes = [valueType("alloc_objects", "count"), valueType("alloc_space", "bytes")]
    }
    profile.sampleTypes += [valueType("inuse_objects", "count"), valueType("inuse_space", "bytes")]
    profile.periodType = valueType("space", "bytes")
    profile.period = Int64(sampleBytes ?? 1)
    profile.defaultSampleType = string(hasAllocations && view == .allocated ? "alloc_space" : "inuse_space")
  }

  /// All texts of a profile are in this table, and readers print them on terminals.
  private mutating func string(_ text: String) -> Int64 {
    let text = VisibleText.line(text)
    if let known = strings[text] { return known }
    let number = Int64(profile.strings.count)
    profile.strings.append(text)
    strings[text] = number
    return number
  }

  private mutating func valueType(_ type: String, _ unit: String) -> Profile.ValueType {
    Profile.ValueType(type: string(type), unit: string(unit))
  }

  // MARK: Code

  /// The libraries that a process had loaded; code in others has no names.
  mutating func add(_ modules: [Snapshot.Module], symbolized: Set<String>) {
    for module in modules {
      profile.mappings.append(
        Profile.Mapping(
          id: UInt64(profile.mappings.count + 1), start: module.low, limit: module.high,
          fileOffset: module.low &- module.bias, file: string(module.path), buildID: string(module.buildID),
          isSymbolized: symbolized.contains(module.path)))
    }
  }

  private func mapping(at address: UInt64) -> UInt64 {
    profile.mappings.first { $0.start <= address && address < $0.limit }?.id ?? 0
  }

  private mutating func function(_ frame: Frame) -> UInt64 {
    let key = FunctionKey(name: StackText.function(frame), file: frame.file ?? "")
    if let known = functions[key] { return known }
    let function = Profile.Function(
      id: UInt64(profile.functions.count + 1), name: string(key.name), systemName: string(frame.symbol),
      file: string(key.file))
    profile.functions.append(function)
    functions[key] = function.id
    return function.id
  }

  private mutating func lines(_ frames: [Frame]) -> [Profile.Line] {
    frames.map { Profile.Line(function: function($0), line: Int64($0.line ?? 0)) }
  }

  /// The place of a code address, with the functions that are known for it, innermost inlined first.
  mutating func location(at address: UInt64, _ frames: [Frame]) -> UInt64 {
    if let known = locationsOfAddress[address] { return known }
    let id = add(address: address, mapping: mapping(at: address), lines(frames))
    locationsOfAddress[address] = id
    return id
  }

  /// The place of a frame of which only the offset in its library is known.
  mutating func location(of frame: Frame) -> UInt64 {
    if let known = locationsOfFrame[frame] { return known }
    let id = add(address: frame.offset, mapping: mapping(named: frame.module), lines([frame]))
    locationsOfFrame[frame] = id
    return id
  }

  /// Stands for a stack that was not recorded.
  private mutating func unknownPlace() -> UInt64 {
    location(of: Frame(symbol: "no backtrace was recorded", module: ""))
  }

  private mutating func add(address: UInt64, mapping: UInt64, _ lines: [Profile.Line]) -> UInt64 {
    let id = UInt64(profile.locations.count + 1)
    profile.locations.append(Profile.Location(id: id, mapping: mapping, address: address, lines: lines))
    return id
  }

  private mutating func mapping(named name: String) -> UInt64 {
    guard !name.isEmpty else { return 0 }
    if let known = mappings[name] { return known }
    let id = UInt64(profile.mappings.count + 1)
    profile.mappings.append(Profile.Mapping(id: id, file: string(name), isSymbolized: true))
    mappings[name] = id
    return id
  }

  // MARK: Samples

  /// Adds to the sample of a stack, innermost location first.
  mutating func add(_ locations: [UInt64], _ labels: Labels, count: Int64, bytes: Int64) {
    add(locations, labels, Values(count: count, bytes: bytes))
  }

  mutating func add(_ locations: [UInt64], _ labels: Labels, _ values: Values) {
    // pprof leaves out what has no place.
    let key = SampleKey(locations: locations.isEmpty ? [unknownPlace()] : locations, labels: labels)
    var sums = samples[key] ?? Values()
    sums.count = Self.sum(sums.count, values.count)
    sums.bytes = Self.sum(sums.bytes, values.bytes)
    sums.allocatedCount = Self.sum(sums.allocatedCount, values.allocatedCount)
    sums.allocatedBytes = Self.sum(sums.allocatedBytes, values.allocatedBytes)
    samples[key] = sums
  }

  private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? (b < 0 ? .min : .max) : sum
  }

  mutating func comment(_ text: String) {
    profile.comments.append(string(text))
  }

  mutating func setTimes(seconds: Double, duration: Double) {
    profile.timeNanoseconds = Self.nanoseconds(seconds)
    profile.durationNanoseconds = Self.nanoseconds(duration)
  }

  /// To the microsecond, which is as exact as a point in time can be here; 0 for what cannot be.
  private static func nanoseconds(_ seconds: Double) -> Int64 {
    seconds > 0 && seconds < 9e9 ? Int64((seconds * 1e6).rounded()) * 1000 : 0
  }

  /// The bytes of the profile; the same ones for the same input.
  mutating func serialized() -> [UInt8] {
    for (key, sums) in samples.sorted(by: Self.comesBefore) where sums != Values() {
      let allocated = hasAllocations ? [sums.allocatedCount, sums.allocatedBytes] : []
      // What the profile itself says of a block is what a reader of it expects under that name.
      let labels = key.labels.merging(commonLabels) { own, _ in own }
      profile.samples.append(
        Profile.Sample(
          locations: key.locations, values: allocated + [sums.count, sums.bytes],
          labels: labels.sorted { $0.key < $1.key }.map { .init(key: string($0.key), text: string($0.value)) }))
    }
    return profile.serialized
  }

  private typealias Sample = (key: SampleKey, value: Values)

  /// The most bytes first; equal ones by what they are called.
  private static func comesBefore(_ a: Sample, _ b: Sample) -> Bool {
    if a.value.bytes != b.value.bytes { return a.value.bytes > b.value.bytes }
    if a.value.count != b.value.count { return a.value.count > b.value.count }
    if a.value.allocatedBytes != b.value.allocatedBytes { return a.value.allocatedBytes > b.value.allocatedBytes }
    func names(_ sample: Sample) -> [String] {
      sample.key.labels.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
    if a.key.labels != b.key.labels { return names(a).lexicographicallyPrecedes(names(b)) }
    return a.key.locations.lexicographicallyPrecedes(b.key.locations)
  }
}
