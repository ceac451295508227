/// Hears about photos as they arrive.
@MainActor protocol PhotoLoaderDelegate: AnyObject {
  func loader(_ loader: PhotoLoader, didLoad photo: Photo)
}

/// Loads photos one by one.
@MainActor final class PhotoLoader {
  // Here is the first mistake: a delegate should be weak.
  var delegate: (any PhotoLoaderDelegate)?

  func load(count: Int) {
    for number in 1...count { delegate?.loader(self, didLoad: Photo(title: "photo \(number)")) }
  }
}
