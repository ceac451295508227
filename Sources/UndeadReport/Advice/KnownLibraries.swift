/// What advice knows of libraries, by the beginnings of names of types and functions.
enum KnownLibraries {
  /// Modules of publishers, operators and subscriptions.
  static let publishers = [
    "OpenCombine", "OpenCombineFoundation", "OpenCombineDispatch", "Combine", "CombineX", "RxSwift", "RxRelay",
    "ReactiveSwift",
  ]
  /// What waits for a promise.
  static let future = "NIOCore.EventLoopFuture<"
  /// Event loops of tests, which run scheduled tasks only on request.
  static let embeddedLoop = "NIOEmbedded."
  /// What holds handlers until it is closed.
  static let channels = ["NIOCore.ChannelPipeline"]
  /// What a handler gets of its channel.
  static let handlerContexts = ["NIOCore.ChannelHandlerContext"]
  /// What only puts a value into a box.
  static let boxes = ["NIOConcurrencyHelpers.LockStorage<", "NIOCore.NIOLoopBoundBox<", "Swift.ManagedBuffer<"]

  /// Modules whose sequences wait with continuations of their own.
  private static let sequences = ["AsyncAlgorithms", "NIOCore.NIOAsync", "NIOCore.NIOThrowingAsync", "AsyncHTTPClient"]

  /// True for the function of a library's sequence that waits for an element.
  static func isSequence(function symbol: String) -> Bool {
    sequences.contains { symbol.contains("\($0)") && symbol.contains("next(") }
  }
}
