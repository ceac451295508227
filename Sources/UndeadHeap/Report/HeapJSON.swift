import Foundation
import UndeadReport

extension HeapReport {
  /// The report as JSON with sorted keys and a newline at the end, the same bytes for the same report.
  public func json() throws -> Data { try JSONRenderer.encode(self) }
}
