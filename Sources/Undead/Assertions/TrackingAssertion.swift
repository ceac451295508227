// swift-format-ignore-file: AmbiguousTrailingClosureOverload
import UndeadReport

/// The assertion that an object is gone at some later moment.
package struct TrackingAssertion<Site: AssertionSite> {
  package let site: Site
  package let object: TrackedObject
  package let grace: Duration

  package init(site: Site, object: TrackedObject, grace: Duration) {
    self.site = site
    self.object = object
    self.grace = grace
  }

  /// Fails at the place of each assertion whose object is alive after the longest of their grace times.
  ///
  /// Of several assertions about one object only the first one does.
  ///
  /// - Parameter name: what failures call what the objects outlived, such as the name of a test.
  package static func check(_ assertions: [Self], name: String) {
    guard let due = Due(assertions) else { return }
    due.tell(TrackedObject.check(due.objects, name: name, grace: due.grace, in: due.session))
  }

  /// The same, letting other tasks run while it waits.
  package static nonisolated(nonsending) func check(
    _ assertions: [Self], name: String
  ) async {
    guard let due = Due(assertions) else { return }
    due.tell(await TrackedObject.check(due.objects, name: name, grace: due.grace, in: due.session))
  }

  /// The assertions whose objects are alive.
  private struct Due {
    private let assertions: [TrackingAssertion]
    let grace: Duration

    /// Nil if all objects are gone, or nothing can be checked, which is then said.
    init?(_ assertions: [TrackingAssertion]) {
      if assertions.isEmpty { return nil }
      var known = Set<HiddenAddress>()
      self.assertions = assertions.filter { $0.object.isAlive && known.insert($0.object.identity).inserted }
      guard let grace = self.assertions.map(\.grace).max() else { return nil }
      self.grace = grace
      // Who holds them is not known without an instrument, that they are alive is.
      guard Availability.isSupported, let obstacle = Availability.reason else { return }
      for assertion in self.assertions { assertion.site.skip(obstacle) }
      return nil
    }

    var objects: [TrackedObject] { assertions.map(\.object) }

    /// All assertions that are checked together are of one session.
    var session: DetectionSession { assertions[0].site.session }

    func tell(_ result: TrackingResult) {
      var told = LeakReport()
      var places: [String] = []
      for survivor in result.survivors {
        let assertion = assertions[survivor.index]
        if let doubt = assertion.site.doubt(about: assertion.object, survivor.leak) {
          assertion.site.skip(doubt)
          continue
        }
        var message = result.message(survivor, directory: Site.directory)
        if let first = told.leaks.firstIndex(where: { $0.isPart(ofSameAs: survivor.leak) }) {
          message += "\n  note       the same leak as at \(places[first])"
        } else {
          told.leaks.append(survivor.leak)
          places.append(assertion.site.place)
        }
        assertion.site.fail(message)
      }
      told.updateCounts()
      if let first = told.leaks.isEmpty ? nil : assertions.first { first.site.attach(told) }
    }
  }
}

extension Leak {
  /// True if both explain objects that leaked together.
  fileprivate func isPart(ofSameAs other: Leak) -> Bool {
    kind != .abandoned && signature == other.signature && objects == other.objects
  }
}

extension TrackingAssertion: Sendable where Site: Sendable {}

extension AssertionSite {
  /// Fails if the object that the body makes and returns is still alive after the grace time.
  package func assertDeallocated<Object: AnyObject, Failure: Error>(
    after grace: Duration, _ body: () throws(Failure) -> Object?
  ) throws(Failure) {
    assertDeallocated(try track(body), after: grace)
  }

  /// Fails if the object that the asynchronous body makes and returns is still alive after the grace time.
  package nonisolated(nonsending) func assertDeallocated<Object: AnyObject, Failure: Error>(
    after grace: Duration,
    _ body: () async throws(Failure) -> Object?
  ) async throws(Failure) {
    let object = try await track(body)
    await TrackingAssertion.check(assertions(of: object, grace), name: "assertDeallocated")
  }

  /// Fails if the object is still alive after the grace time.
  package func assertDeallocated(_ object: TrackedObject?, after grace: Duration) {
    TrackingAssertion.check(assertions(of: object, grace), name: "assertDeallocated")
  }

  private func assertions(of object: TrackedObject?, _ grace: Duration) -> [TrackingAssertion<Self>] {
    object.map { [TrackingAssertion(site: self, object: $0, grace: grace)] } ?? []
  }

  // The object must not live in a frame of the caller: it is gone when these functions have returned.
  @inline(never)
  private func track<Object: AnyObject, Failure: Error>(
    _ body: () throws(Failure) -> Object?
  ) throws(Failure) -> TrackedObject? {
    try body().map(TrackedObject.init)
  }

  @inline(never)
  private nonisolated(nonsending) func track<Object: AnyObject, Failure: Error>(
    _ body: () async throws(Failure) -> Object?
  ) async throws(Failure) -> TrackedObject? {
    try await body().map(TrackedObject.init)
  }
}
