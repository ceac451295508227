/// Two objects that know each other; strongly both ways unless the link back is the weak one.
public final class Order {
  public var invoice: Invoice?
  public init() {}
}

public final class Invoice {
  public var order: Order?
  public weak var weakOrder: Order?
  public init() {}
}

/// A list that is linked in both directions.
public final class Line {
  public var next: Line?
  public var previous: Line?
  public weak var weakPrevious: Line?
  public let number: Int
  public init(number: Int) { self.number = number }

  public func append(_ line: Line, strongly: Bool) {
    next = line
    if strongly { line.previous = self } else { line.weakPrevious = self }
  }
}

/// A tree whose leaves know the way up.
public final class Category {
  public var children: [Category] = []
  public var parent: Category?
  public weak var weakParent: Category?
  public init() {}

  public func add(_ child: Category, strongly: Bool) {
    children.append(child)
    if strongly { child.parent = self } else { child.weakParent = self }
  }
}

/// An object that holds itself.
public final class Singleton {
  public var instance: Singleton?
  public init(keepsItself: Bool) {
    if keepsItself { instance = self }
  }
}

/// References inside of enums and structs.
public enum State {
  case idle
  case running(job: Job, attempt: Int)
  indirect case nested(State)
}

public final class Job {
  public var state: State = .idle
  public init() {}
}

public struct Address {
  public var city = "Oslo"
  public var owner: Customer?
  public init() {}
}

public final class Customer {
  public var address = Address()
  public var tags: [String: any Tag] = [:]
  public init() {}
}

public protocol Tag {
  var label: String { get }
}

public struct OwnedTag: Tag {
  public var label: String
  public var customer: Customer?
  public init(label: String, customer: Customer?) {
    self.label = label
    self.customer = customer
  }
}
