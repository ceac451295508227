import UndeadHeap
import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HeapReport {
  /// The report as JSON with sorted keys and a newline at the end, the same bytes for the same report.
  package func json() throws -> Data { try JSONRenderer.encode(self) }
}
