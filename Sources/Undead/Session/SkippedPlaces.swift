import Foundation

/// The places that said that they were not checked.
// Unchecked: the set is only used under the lock. ThreadSanitizer, under which this runs, knows it; it knows no `Mutex`.
final class SkippedPlaces: @unchecked Sendable {
  private let lock = NSLock()
  private var places: Set<String> = []

  /// True if the place is a new one.
  func insert(_ place: String) -> Bool {
    lock.withLock { places.insert(place).inserted }
  }
}
