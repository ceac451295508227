/// Leaks of the toolchain that a program cannot help. They are shown separately, never hidden.
package enum KnownLeaks {
  private struct Entry: Sendable {
    var reason: String
    var matches: @Sendable (LeakFacts) -> Bool
  }

  private static let table: [Entry] = [
    Entry(
      reason: "XCTest never releases a test case and its run, nor what the stored properties of the test case hold",
      matches: { $0.isTestCase }),
    Entry(
      reason: "XCTest's own bookkeeping",
      matches: { !$0.holdsProgramObject && ($0.rootType.hasPrefix("XCTest.") || $0.isAllocated(in: "libXCTest")) }),
    Entry(
      reason: "Foundation's Timer on Linux is never released after it fired or was invalidated; "
        + "it holds no object of the program",
      matches: { !$0.holdsProgramObject && $0.holdsTimer }),
    Entry(
      reason: "Foundation on Linux never releases the attributes of an NSAttributedString",
      matches: { !$0.holdsProgramObject && !$0.isCycle && $0.rootType == attributes }),
    Entry(
      reason: "FoundationXML never frees a parsed document, an attribute or a detached node: they hold themselves",
      matches: {
        !$0.holdsProgramObject && $0.isCycle && $0.references.allSatisfy { $0.type.hasPrefix("FoundationXML.") }
      }
    ),
    Entry(
      reason: "FoundationXML never releases the texts of a parser's errors",
      matches: { $0.isStray("Foundation._NSCFString", madeBy: "FoundationXML.XMLParser.parse(") }),
    Entry(
      reason: "Foundation on Linux never releases an array of `Bundle.allBundles` or `Bundle.allFrameworks`",
      matches: { $0.isStray("Foundation._NSCFArray", madeBy: "Foundation.Bundle.all") }),
    Entry(
      reason: reasonByFunction,
      matches: { !$0.holdsProgramObject && $0.isClosureOfAsyncMain }),
    Entry(
      reason: "allocated by the toolchain's libraries for themselves: no function of the program took part",
      matches: { !$0.holdsProgramObject && $0.isAllocatedByToolchainAlone }),
  ]

  /// What an attributed string of Foundation keeps its attributes in.
  static let attributes = "CFRunArray"

  /// The one reason that depends on the innermost function of the program, which may have been inlined.
  static let reasonByFunction =
    "the compiler does not release every closure of asynchronous top-level code in debug builds; "
    + "it holds no object of the program"

  /// What blocks are called by their contents that the runtime loses for ``reasonForMessages``.
  package static let messages = "messages about dropped continuations"
  package static let reasonForMessages =
    "for each continuation that is dropped, Swift's runtime keeps a copy of all its messages so far: "
    + "resume each continuation exactly once"

  /// What to do about memory that is lost, and is no object, where no backtrace says who allocated it.
  package static let needsPlace =
    "only a backtrace of its allocation says whose it is: 'undead run' records it, or 'undead record PID' for what is "
    + "lost from then on"

  /// Why the toolchain's functions lose memory of their own; nil if that is not known.
  ///
  /// - Parameter symbols: the functions, innermost first, as the linker knows them.
  package static func reason(ofOwnBlocksMadeIn symbols: [String]) -> String? {
    if symbols.contains("swift_reportError"), symbols.contains(where: { $0.contains("ContinuationCanary") }) {
      return reasonForMessages
    }
    if symbols.contains(where: { $0.contains("readBytesFromFile") }) {
      return
        "Foundation on Linux loses its buffer when a file of unknown size is empty, as some below /proc are: "
        + "read it with FileHandle"
    }
    return nil
  }

  /// Why the program cannot help a leak; nil if it can.
  static func reason(for facts: LeakFacts) -> String? {
    table.first { $0.matches(facts) }?.reason
  }
}

extension LeakFacts {
  fileprivate func isAllocated(in library: String) -> Bool {
    allocation.frames.first { !SymbolText.isRuntimeEntry($0.symbol) }?.module.hasPrefix(library) ?? false
  }

  /// True for an object of the toolchain that nothing refers to, of this type, and made by this function of the toolchain's,
  /// not by what the program does when that function calls it.
  fileprivate func isStray(_ type: String, madeBy function: String) -> Bool {
    !isCycle && !holdsProgramObject && rootType == type
      && allocation.frames.prefix(while: \.system).contains { $0.symbol.contains(function) }
  }

  /// `dictionary[key, default: value]` in `async_Main` makes a closure whose last copy is never released.
  fileprivate var isClosureOfAsyncMain: Bool {
    let maker = allocation.frames.first { !SymbolText.isRuntimeEntry($0.symbol) }?.symbol ?? ""
    let isLoneClosure = !isCycle && types.count == 1 && rootType == "closure context (captures a function)"
    return isLoneClosure && maker.hasPrefix("async_Main")
  }

  fileprivate var isAllocatedByToolchainAlone: Bool {
    !allocation.frames.isEmpty && allocation.frames.allSatisfy(\.system) && suspended?.frames.isEmpty ?? true
  }
}
