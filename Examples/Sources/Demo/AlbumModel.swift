import Foundation

/// What the screen of an album shows. It is the delegate of its loader, and its slide show turns its pages.
@MainActor final class AlbumModel: PhotoLoaderDelegate {
  let name: String
  private(set) var photos: [Photo] = []
  let slideShow = SlideShow()
  private let loader = PhotoLoader()

  init(name: String) {
    self.name = name
    loader.delegate = self
  }

  func load() { loader.load(count: 12) }

  func loader(_ loader: PhotoLoader, didLoad photo: Photo) { photos.append(photo) }
}

/// A picture and its pixels.
final class Photo {
  let title: String
  let pixels = [UInt8](repeating: 0, count: 4096)
  init(title: String) { self.title = title }
}
