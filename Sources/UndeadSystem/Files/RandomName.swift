/// Names that nobody can foresee, for files and folders where others may put theirs.
package enum RandomName {
  private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")

  /// - Parameter length: of the letters and digits after `prefix`.
  package static func make(_ prefix: String, length: Int = 16) -> String {
    prefix + String((0..<length).map { _ in letters.randomElement()! })
  }
}
