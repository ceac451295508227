// An object that is an element of a collection of Foundation's which it has itself.
// KEPT BY the collection
// ADVICE `cache` of App.Library, a Foundation.NSCache, has App.Library as an element, which leads back: remove it from there
// FIX remove it
import Foundation

final class Library {
  private let cache = NSCache<NSString, Library>()
  func start() {
    cache.setObject(self, forKey: "self")
    #if FIXED
      cache.removeObject(forKey: "self")
    #endif
  }
}
@inline(never) func run() { Library().start() }
run()
