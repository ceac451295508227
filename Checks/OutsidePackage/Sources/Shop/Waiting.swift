import Dispatch
import Foundation
import Synchronization

/// What is kept alive by something that fires, waits or lives for ever.
public final class Ticker: @unchecked Sendable {
  private var timer: Timer?
  private var ticks = 0
  public init() {}

  public func start(strongly: Bool) {
    timer =
      strongly
      ? Timer.scheduledTimer(withTimeInterval: 600, repeats: true) { _ in self.ticks += 1 }
      : Timer.scheduledTimer(withTimeInterval: 600, repeats: true) { [weak self] _ in self?.ticks += 1 }
  }

  deinit { timer?.invalidate() }
}

public final class Heartbeat: @unchecked Sendable {
  private let source = DispatchSource.makeTimerSource()
  private var beats = 0
  public init() {}

  public func start(strongly: Bool) {
    if strongly {
      source.setEventHandler { self.beats += 1 }
    } else {
      source.setEventHandler { [weak self] in self?.beats += 1 }
    }
    source.schedule(deadline: .now() + 600, repeating: 600)
    source.resume()
  }

  deinit { source.cancel() }
}

public final class Badge: @unchecked Sendable {
  private var token: (any NSObjectProtocol)?
  private var count = 0
  public static let mail = Notification.Name("mail")

  public init(strongly: Bool) {
    let center = NotificationCenter.default
    token =
      strongly
      ? center.addObserver(forName: Self.mail, object: nil, queue: nil) { _ in self.count += 1 }
      : center.addObserver(forName: Self.mail, object: nil, queue: nil) { [weak self] _ in self?.count += 1 }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}

public final class Poller: @unchecked Sendable {
  private var task: Task<Void, Never>?
  private var polls = 0
  public init() {}

  public func start(strongly: Bool) {
    if strongly {
      task = Task {
        while !Task.isCancelled {
          self.polls += 1
          try? await Task.sleep(for: .seconds(600))
        }
      }
    } else {
      task = Task { [weak self] in
        while !Task.isCancelled, self != nil {
          self?.polls += 1
          try? await Task.sleep(for: .seconds(600))
        }
      }
    }
  }

  deinit { task?.cancel() }
}

public final class Request: Sendable {
  public let number: Int
  public init(number: Int) { self.number = number }
}

/// Waits for an answer: for ever if the continuation is dropped.
public func send(_ request: Request, answers: Bool) async -> Int {
  let answer = await withUnsafeContinuation { (continuation: UnsafeContinuation<Int, Never>) in
    if answers { continuation.resume(returning: 7) }
  }
  return answer + request.number
}

public final class Session: Sendable {
  public let name: String
  public init(name: String) { self.name = name }
}

/// Sessions that are logged in; who logs out is forgotten.
public enum Sessions {
  private static let active = Mutex<[String: Session]>([:])

  public static func logIn(_ session: Session) {
    active.withLock { $0[session.name] = session }
  }

  public static func logOut(_ session: Session) {
    active.withLock { $0[session.name] = nil }
  }
}

/// Work that ends on its own after a while.
public final class Upload: Sendable {
  public init() {}

  public func start() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { withExtendedLifetime(self) {} }
  }
}
