/// Properties that declare options.
protocol ParsableArguments {
  init()
  /// Refuses values that do not go together.
  func validate() throws
}

extension ParsableArguments {
  func validate() throws {}
}
