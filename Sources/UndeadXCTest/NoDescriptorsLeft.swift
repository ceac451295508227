import Undead
import XCTest

/// Fails the running test if files, sockets or pipes that the body opens are open after it.
///
/// The failure names each descriptor with its kind and path, or with the two ends of its connection. All descriptors of the process
/// count: what another thread opens meanwhile is one of them.
///
/// - Parameters:
///   - grace: how long closing may take; only a failing check waits so long.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the code to check.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult @_disfavoredOverload
public func assertNoDescriptorsLeft<Output, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(file: file, line: line, message: message()).assertNoDescriptorsLeft(after: grace, body)
}

/// Fails the running test if what the asynchronous body opens is open after it; as the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoDescriptorsLeft<Output, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(file: file, line: line, message: message()).assertNoDescriptorsLeft(after: grace, body)
}
