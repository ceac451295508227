/// Closures that are stored and capture who stores them.
public final class CartModel {
  public var onChange: ((Int) -> Void)?
  public private(set) var count = 0
  public init() {}

  public func bindStrongly() { onChange = { self.count = $0 } }
  public func bindWeakly() { onChange = { [weak self] in self?.count = $0 } }
}

/// A lazy closure that was called once.
public final class Receipt {
  public let text: String
  public init(text: String) { self.text = text }

  public lazy var strong: () -> String = { "<p>\(self.text)</p>" }
  public lazy var unowned: () -> String = { [unowned self] in "<p>\(self.text)</p>" }
}

/// Handlers in a dictionary.
public final class Router {
  private var routes: [String: (String) -> Void] = [:]
  public private(set) var visited: [String] = []
  public init() {}

  public func route(_ path: String, strongly: Bool) {
    if strongly {
      routes[path] = { self.visited.append($0) }
    } else {
      routes[path] = { [weak self] in self?.visited.append($0) }
    }
  }

  public func go(_ path: String) { routes[path]?(path) }
}

/// Observers that are closures in an array, with the subject and the observer as two objects.
public final class Store {
  private var observers: [() -> Void] = []
  public init() {}
  public func observe(_ observer: @escaping () -> Void) { observers.append(observer) }
  public func notify() { for observer in observers { observer() } }
}

public final class StoreView {
  public let store: Store
  public private(set) var redraws = 0

  public init(store: Store, strongly: Bool) {
    self.store = store
    if strongly {
      store.observe { self.redraws += 1 }
    } else {
      store.observe { [weak self] in self?.redraws += 1 }
    }
  }
}

/// A delegate that should be weak, and one that is.
public protocol DownloadDelegate: AnyObject {
  func downloadDidFinish()
}

public final class Download {
  public var delegate: (any DownloadDelegate)?
  public weak var weakDelegate: (any DownloadDelegate)?
  public init() {}
}

public final class DownloadScreen: DownloadDelegate {
  public let download = Download()
  public private(set) var isFinished = false

  public init(strongly: Bool) {
    if strongly { download.delegate = self } else { download.weakDelegate = self }
  }

  public func downloadDidFinish() { isFinished = true }
}
