/// Why there is no detail to report.
package enum HeapQuestionError: Error, Equatable, CustomStringConvertible {
  case noType(String, similar: [String])
  case noBlock(UInt64)

  package var description: String {
    switch self {
    case .noType(let pattern, let similar):
      "no type in this heap matches '\(pattern)'"
        + (similar.isEmpty ? "" : "; there are \(similar.map { "'\($0)'" }.joined(separator: ", "))")
    case .noBlock(let address): "no live block contains the address 0x\(String(address, radix: 16))"
    }
  }
}
