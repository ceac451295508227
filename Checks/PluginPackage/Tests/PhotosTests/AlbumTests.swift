import Foundation
import Photos
import Testing
import UndeadTesting

@Test(.noLeaks) func albumLoads() {
  let album = Album()
  album.load(keeping: false)
  #expect(album.isLoaded)
}

/// What the tool finds without a trait.
@Test(.enabled(if: ProcessInfo.processInfo.environment["PHOTOS_LEAK"] != nil)) func albumStays() {
  let album = Album()
  album.load(keeping: true)
  #expect(album.isLoaded)
}
