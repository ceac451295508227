import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// JSON that a terminal and a log can show: strings keep all that they hold, but hidden scalars are written as `\u009B`.
package enum JSONText {
  /// The same document without raw hidden scalars. They can only be in strings, where each has an escape.
  package static func visible(_ json: Data) -> Data {
    let isPlain = json.withUnsafeBytes { bytes in
      var previous: UInt8 = 0
      return bytes.allSatisfy { byte in
        defer { previous = byte }
        return byte < 0x7F && !(byte == UInt8(ascii: "#") && previous == byte)
      }
    }
    if isPlain { return json }
    var previous: Unicode.Scalar = " "
    let text = ScalarEscapes.applied(to: String(decoding: json, as: UTF8.self)) { scalar in
      defer { previous = scalar }
      // Runners obey `##[...]` anywhere in a line.
      if scalar == "#", previous == "#" { return escape(scalar) }
      return scalar.value >= 0x7F && VisibleText.isHidden(scalar) ? escape(scalar) : nil
    }
    return Data(text.utf8)
  }

  /// `\u009B`; two of them for a scalar beyond the first plane.
  package static func escape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.map { unit in
      let digits = String(unit, radix: 16, uppercase: true)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}
