// What only something that fires or waits holds.
import Dispatch
import Foundation

final class Ticker {
  var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in sink(self) } }
}
final class Source {
  var source: DispatchSourceTimer?
  func start() {
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.schedule(deadline: .now() + 1000, repeating: 1000)
    source.setEventHandler { sink(self) }
    source.resume()
    self.source = source
  }
}
final class Observer {
  var token: NSObjectProtocol?
  func start() {
    token = NotificationCenter.default.addObserver(forName: .init("name"), object: nil, queue: nil) { _ in sink(self) }
  }
}
final class Worker: @unchecked Sendable {
  var task: Task<Void, Never>?
  func start() {
    task = Task {
      while !Task.isCancelled { try? await Task.sleep(nanoseconds: 1_000_000_000_000) }
      sink(self)
    }
  }
}
final class Healthy {
  var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in sink(self) } }
}

@inline(never) func startSuspects() {
  Ticker().start()
  Source().start()
  Observer().start()
  Worker().start()
  let healthy = Healthy()
  let heldAnyway = Ticker()
  healthy.start()
  heldAnyway.start()
  kept += [healthy, heldAnyway]
}
