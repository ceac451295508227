/// Generic types, inheritance, and a reference that a superclass declares.
public final class Node<Value> {
  public var value: Value
  public var peer: Node<Value>?
  public init(_ value: Value) { self.value = value }
}

open class Screen {
  public var presenter: AnyObject?
  public weak var weakPresenter: AnyObject?
  public init() {}
}

open class DetailScreen: Screen {
  public var title = "detail"
}

public final class ProductScreen: DetailScreen {
  public let presenterOfScreen: Presenter

  public init(strongly: Bool) {
    presenterOfScreen = Presenter()
    super.init()
    presenterOfScreen.screen = self
    if strongly { presenter = presenterOfScreen } else { weakPresenter = presenterOfScreen }
    if !strongly { presenterOfScreen.screen = nil }
  }
}

public final class Presenter {
  public var screen: ProductScreen?
  public init() {}
}

public actor Warehouse {
  private var shelf: Shelf?
  public init() {}

  public func fill(strongly: Bool) {
    shelf = Shelf(warehouse: strongly ? self : nil)
  }
}

public actor Shelf {
  let warehouse: Warehouse?
  init(warehouse: Warehouse?) { self.warehouse = warehouse }
}

@MainActor public final class Dashboard {
  public var reload: (@MainActor () -> Void)?
  public private(set) var loads = 0
  public init() {}

  public func bind(strongly: Bool) {
    if strongly {
      reload = { self.loads += 1 }
    } else {
      reload = { [weak self] in self?.loads += 1 }
    }
  }
}
