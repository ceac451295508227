public final class PhotoLoader {
  public var delegate: Album?
  public init() {}
  func load() { delegate?.isLoaded = true }
}

public final class Album {
  public let loader = PhotoLoader()
  public var isLoaded = false
  public init() {}
  public func load(keeping: Bool) {
    loader.delegate = self
    loader.load()
    if !keeping { loader.delegate = nil }
  }
}
