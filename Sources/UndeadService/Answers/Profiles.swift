import Undead
import UndeadHeapFile
import UndeadProfile
import UndeadReport

enum Profiles {
  static let contentType = "application/octet-stream"

  /// The labels that samples get: `all`, `none`, or some of type, module and generation, with commas between.
  static func details(_ request: UndeadDebugService.Request) throws -> Set<ProfileOptions.Detail> {
    switch request.value("labels") {
    case nil, "all": return Set(ProfileOptions.Detail.allCases)
    case "none": return []
    case let text?:
      return try Set(
        text.split(separator: ",").map { word in
          guard let detail = ProfileOptions.Detail(rawValue: String(word)) else {
            throw BadQuery(
              "labels=\(text.prefix(64)): give all, none, or some of type, module, generation with commas between")
          }
          return detail
        })
    }
  }
}

extension UndeadDebugService {
  /// `/debug/pprof/heap`: as Go's; where allocations are not sampled, with what is in use only. There is no collector to
  /// run, so `gc` changes nothing.
  func profileOfHeap(_ request: Request) async throws -> Response {
    try await profile("heap", request, .inUse)
  }

  /// `/debug/pprof/allocs`: the same, of which what was allocated is shown first. Only a sample has what was freed.
  func profileOfAllocations(_ request: Request) async throws -> Response {
    try await profile("allocs", request, .allocated)
  }

  private func profile(_ name: String, _ request: Request, _ view: ProfileView) async throws -> Response {
    let options = ProfileOptions(
      labels: configuration.labels, details: try Profiles.details(request), view: view)
    let isText = request.value("debug").map { $0 != "0" } ?? false
    guard let wait = try seconds(request) else {
      let (sites, names) = try await named(try await sites(view))
      if isText { return .init(text: HeapProfileText.render(sites, symbols: names.symbols)) }
      return profile(name, HeapProfile.render(sites, symbols: names.symbols, options: options))
    }
    if isText { throw BadQuery("seconds and debug: a difference has no text form; leave out one of them") }
    let before = try await sites(view)
    try await Task.sleep(for: wait)
    let (after, names) = try await named(try await sites(view), and: before.addresses)
    return profile(
      "\(name)-delta", HeapProfile.render(from: before, to: after, symbols: names.symbols, options: options))
  }

  private func sites(_ view: ProfileView) async throws -> AllocationSites {
    let sites = try await sites()
    guard view == .allocated, sites.sampleBytes == nil else { return sites }
    throw Missing(
      status: 501,
      description: "what was freed is only known of a sampled recording, and this one is not; start the program with "
        + "UNDEAD_SAMPLE=512KiB or 'undead run --sample 512KiB'. /debug/pprof/heap has what is in use")
  }

  private func profile(_ name: String, _ bytes: [UInt8]) -> Response {
    .init(
      contentType: Profiles.contentType,
      headers: [.init(name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")],
      body: Body(Gzip.compress(bytes)))
  }

  /// A look at the heap, of which the sites are kept.
  func sites() async throws -> AllocationSites {
    try await lookAtHeap { path, _ in try AllocationSites(HeapFile(path: path)) }
  }

  /// The same with names of the code, which are looked up when the process is not waiting any more.
  func named(
    _ sites: AllocationSites, and others: [UInt64] = []
  ) async throws -> (AllocationSites, Symbolizer.Result) {
    let names = names
    let found = await OwnThread.run {
      names.look(up: sites.addresses + others, sites.modules, known: sites.symbols)
    }
    return (sites, found)
  }
}
