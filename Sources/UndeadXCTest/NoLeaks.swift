import Undead
import UndeadReport
import XCTest

/// Fails the running test if objects that the body makes can never be released any more.
///
/// A leak fails the test at this line, with the type, the cycle or path in field names, and the place of the allocation.
/// What the body makes and something still refers to is no leak; use ``XCTest/XCTestCase/trackForMemoryLeaks(_:grace:file:line:)``
/// or ``assertDeallocated(after:_:file:line:_:)`` for objects that must be gone. An object that only a timer,
/// dispatch source, observer registration or task holds, and that holds that thing itself, is a warning on standard error.
///
/// The check is made also if the body throws. Assertions may be nested and made on several threads at once; each leak is
/// reported by one of them, the innermost. If nothing can be checked (a sanitizer build, `UNDEAD=0`), the body runs, and a note
/// on standard error says that it was not checked.
///
/// - Returns: what the body returns; it is alive during the check.
@discardableResult
public func assertNoLeaks<Result, Failure: Error>(
  _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line,
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let check = ScopeCheck(Site(file: file, line: line, message: message()))
  defer { check.finish { check.site.tell($0) } }
  return try check.scope.run(body)
}

/// Fails the running test if objects that the asynchronous body makes can never be released any more.
///
/// As the synchronous one; what tasks of the body make belongs to it, as long as they are not detached.
@discardableResult @_disfavoredOverload
public func assertNoLeaks<Result, Failure: Error>(
  _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let check = ScopeCheck(Site(file: file, line: line, message: message()))
  do throws(Failure) {
    let result = try await check.scope.run(body)
    await check.finish { check.site.tell($0) }
    return result
  } catch {
    await check.finish { check.site.tell($0) }
    throw error
  }
}

/// Fails the running test unless the body leaks: for a leak that is known and cannot be mended now.
///
/// The leaks are not reported by any other check. The test fails as soon as the leak is mended, so that this does not stay
/// behind.
///
/// - Parameter reason: why the leak is there, as the failure will say it.
@discardableResult
public func expectLeak<Result, Failure: Error>(
  _ reason: String, file: StaticString = #filePath, line: UInt = #line, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let check = ScopeCheck(Site(file: file, line: line))
  defer { check.finish { check.expectLeaks(in: $0, reason) } }
  return try check.scope.run(body)
}

/// Fails the running test unless the asynchronous body leaks.
@discardableResult @_disfavoredOverload
public func expectLeak<Result, Failure: Error>(
  _ reason: String, file: StaticString = #filePath, line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let check = ScopeCheck(Site(file: file, line: line))
  do throws(Failure) {
    let result = try await check.scope.run(body)
    await check.finish { check.expectLeaks(in: $0, reason) }
    return result
  } catch {
    await check.finish { check.expectLeaks(in: $0, reason) }
    throw error
  }
}

/// What an assertion with a body needs: its scope, and what becomes of the findings.
struct ScopeCheck: Sendable {
  let site: Site
  let scope: AllocationScope
  private let obstacle: String?

  init(_ site: Site) {
    self.site = site
    obstacle = Availability.reason
    scope = AllocationScope("\(site.file):\(site.line)")
  }

  func finish(_ tell: (LeakReport) -> Void) {
    if let obstacle { return site.skip(obstacle) }
    do { tell(try scope.check()) } catch { site.skip(error.description) }
  }

  func finish(isolation: isolated (any Actor)? = #isolation, _ tell: (LeakReport) -> Void) async {
    if let obstacle { return site.skip(obstacle) }
    do { tell(try await scope.check()) } catch { site.skip(error.description) }
  }

  func expectLeaks(in report: LeakReport, _ reason: String) {
    if report.leaks.isEmpty { site.fail("nothing leaked, but a leak was expected: \(reason)") }
  }
}
