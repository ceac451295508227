import Foundation

/// What was built together with the tests.
package enum BuildProducts {
  /// The directory of the test bundle.
  package static let directory: URL = {
    let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: bundle ?? CommandLine.arguments[0]).deletingLastPathComponent()
  }()

  /// The library that the tool loads into programs.
  package static func preloadLibrary() throws -> String {
    try path("libUndeadPreload.so", product: "UndeadPreload")
  }

  /// The file of a product.
  ///
  /// - Throws: ``MissingProduct`` if it is not there.
  package static func path(_ file: String, product: String) throws -> String {
    let path = directory.appending(path: file).path
    guard FileManager.default.fileExists(atPath: path) else { throw MissingProduct(path: path, product: product) }
    return path
  }
}

/// A product that the tests need was not built.
package struct MissingProduct: Error, CustomStringConvertible {
  let path: String
  let product: String

  package var description: String { "\(path) is missing: build the product \(product)" }
}
