import UndeadSystem

/// Turns the names of a symbol table into those of the source.
package enum Demangler {
  /// The name of a function as a programmer would write it; `name` itself if it is not mangled.
  package static func readable(_ name: String) -> String {
    if name.hasPrefix("_Z") { return demangleCxx(name) ?? name }
    guard let full = demangleSwift(name) else { return name }
    return FunctionName.simplified(full)
  }

  /// The type in the symbol of a global variable of Swift; nil for other symbols.
  package static func typeOfVariable(_ symbol: String) -> String? {
    guard symbol.hasPrefix("$s"), symbol.hasSuffix("vp") || symbol.hasSuffix("vpZ"), let full = demangleSwift(symbol),
      let separator = full.firstRange(of: " : ")
    else { return nil }
    return String(full[separator.upperBound...])
  }

  #if canImport(Glibc)
    // Neither function is in a header that Swift can import. The types are those of the runtime's public
    // `swift_demangle` and of the C++ ABI's `__cxa_demangle`. The runtime's is bound by the linker: where the runtime is
    // linked into the program, nothing can be looked up in it by name.
    @_silgen_name("swift_demangle") private static func runtimeDemangle(
      _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
      _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
    ) -> UnsafeMutablePointer<CChar>?

    private typealias CxxDemangle =
      @convention(c) (
        UnsafePointer<CChar>?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Int32>?
      ) ->
      UnsafeMutablePointer<CChar>?

    private static let cxxDemangle = dlsym(nil, "__cxa_demangle").map { unsafeBitCast($0, to: CxxDemangle.self) }

    /// The runtime's full text for a mangled Swift name; nil if it is none.
    static func demangleSwift(_ name: String) -> String? {
      take(name.withCString { runtimeDemangle($0, strlen($0), nil, nil, 0) })
    }

    private static func demangleCxx(_ name: String) -> String? {
      var status: Int32 = 0
      return take(cxxDemangle?(name, nil, nil, &status))
    }

    private static func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
      guard let text else { return nil }
      defer { free(text) }
      return String(cString: text)
    }
  #else
    // Where functions cannot be looked up by their names, those of a report stay mangled.
    static func demangleSwift(_ name: String) -> String? { nil }
    private static func demangleCxx(_ name: String) -> String? { nil }
  #endif
}
