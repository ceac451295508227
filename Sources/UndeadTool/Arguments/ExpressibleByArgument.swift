/// A type that a word can be read as.
protocol ExpressibleByArgument {
  /// - Throws: ``ValidationError``, which may be empty.
  init(argument: String) throws
  /// What may be written, if that is little.
  static var allNames: [String] { get }
}

extension ExpressibleByArgument {
  static var allNames: [String] { [] }

  fileprivate init(_ value: Self?) throws {
    guard let value else { throw ValidationError("") }
    self = value
  }
}

extension ExpressibleByArgument where Self: LosslessStringConvertible {
  init(argument: String) throws { try self.init(Self(argument)) }
}

extension ExpressibleByArgument where Self: RawRepresentable<String> & CaseIterable {
  init(argument: String) throws { try self.init(Self(rawValue: argument)) }
  static var allNames: [String] { allCases.map(\.rawValue) }
}

extension String: ExpressibleByArgument {}
extension Int: ExpressibleByArgument {}
extension Int32: ExpressibleByArgument {}
extension UInt32: ExpressibleByArgument {}
extension UInt64: ExpressibleByArgument {}
extension Double: ExpressibleByArgument {}
