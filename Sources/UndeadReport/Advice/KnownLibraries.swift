/// What advice knows of libraries, by the beginnings of names of types and functions.
enum KnownLibraries {
  /// Packages of widely used modules, which may be built from a folder of the program's own.
  private static let packages = [
    ("NIOCore", "swift-nio"), ("NIOPosix", "swift-nio"), ("NIOEmbedded", "swift-nio"),
    ("NIOConcurrencyHelpers", "swift-nio"),
    ("NIOHTTP1", "swift-nio"), ("NIOHTTP2", "swift-nio-http2"), ("NIOSSL", "swift-nio-ssl"),
    ("AsyncAlgorithms", "swift-async-algorithms"), ("AsyncHTTPClient", "async-http-client"),
    ("Hummingbird", "hummingbird"), ("Vapor", "vapor"), ("GRDB", "GRDB.swift"), ("Alamofire", "Alamofire"),
  ]

  static func package(ofModule module: String) -> String? { packages.first { $0.0 == module }?.1 }

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
