import Photos
import UndeadXCTest
import XCTest

final class AlbumXCTests: XCTestCase {
  func testAlbumLoads() {
    assertNoLeaks {
      let album = Album()
      album.load(keeping: false)
      XCTAssertTrue(album.isLoaded)
    }
  }
}
