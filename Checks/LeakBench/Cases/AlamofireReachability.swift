// source: Alamofire/Alamofire b8e727d4 (#3180)
// The context of a C callback got a retained reference to the manager, and stopping did not release it. The fix passes an
// unretained one.
// expect: leak Manager in makeManager

enum AlamofireReachability: LeakCase {
  typealias Callback = @convention(c) (Int, UnsafeMutableRawPointer?) -> Void

  /// What a C library would keep.
  final class Registration {
    var callback: Callback?
    var info: UnsafeMutableRawPointer?
    func set(_ callback: Callback?, _ info: UnsafeMutableRawPointer?) { (self.callback, self.info) = (callback, info) }
  }

  nonisolated(unsafe) static let registration = Registration()

  final class Manager {
    private var flags = 0

    func startListening() {
      #if FIXED
        let info = Unmanaged.passUnretained(self).toOpaque()
      #else
        let info = Unmanaged.passRetained(self).toOpaque()
      #endif
      registration.set(
        { flags, info in Unmanaged<Manager>.fromOpaque(info!).takeUnretainedValue().flags = flags }, info)
    }

    func stopListening() { registration.set(nil, nil) }
    deinit { stopListening() }
  }

  @inline(never) static func makeManager() -> Manager { Manager() }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds {
      let manager = makeManager()
      manager.startListening()
      registration.callback?(round, registration.info)
      manager.stopListening()
    }
  }
}
