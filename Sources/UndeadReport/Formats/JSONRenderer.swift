#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes and reads reports as JSON, the same bytes for the same report.
public enum JSONRenderer {
  /// The report as pretty-printed JSON with sorted keys and a newline at the end.
  public static func render(_ report: LeakReport) throws -> Data {
    try encode(report)
  }

  package static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return JSONText.visible(try encoder.encode(value)) + [UInt8(ascii: "\n")]
  }

  /// Reads a report.
  ///
  /// - Throws: ``ReportFileError`` that says what is wrong and what to do.
  public static func parse(_ data: Data) throws(ReportFileError) -> LeakReport {
    do {
      return try JSONDecoder().decode(LeakReport.self, from: data)
    } catch let error as DecodingError {
      throw ReportFileError(error)
    } catch {
      throw ReportFileError(message: "the report cannot be read: \(error)")
    }
  }
}
