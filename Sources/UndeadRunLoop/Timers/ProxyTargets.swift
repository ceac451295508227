#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
extension TrackedTimer {
  /// A timer that calls an action of the object that a weak proxy stands for; the proxy is held, the object is not.
  ///
  /// When the object is gone nothing is called, and diagnostics report a timer that ticks for nobody.
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init<Proxy: WeakProxying & Sendable>(
    timeInterval interval: Double, proxy: Proxy, selector: String = "", userInfo: (any Sendable)? = nil,
    repeats: Bool = false, action: @escaping @Sendable (Proxy.Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval, target: proxy, selector: selector, userInfo: userInfo, repeats: repeats
    ) { proxy, timer in
      try proxy.forward { try action($0, timer) }
    }
  }
}

extension MainRunLoop {
  /// A timer that calls a method of the object that a weak proxy stands for, added to the main loop; the proxy is held,
  /// the object is not.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public func scheduledTimer<Proxy: WeakProxying>(
    timeInterval interval: Double, proxy: Proxy,
    selector: @escaping @MainActor (Proxy.Target) -> (TrackedTimer) throws -> Void, userInfo: (any Sendable)? = nil,
    repeats: Bool, name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval, target: proxy,
      selector: { proxy in { timer in if let target = proxy.target { try selector(target)(timer) } } },
      userInfo: userInfo, repeats: repeats, name: name, forMode: mode)
  }
}
#endif
