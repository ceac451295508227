// Closures hold what they capture, whatever lies before it, in arrays, handlers of sources and tasks. The instrument is asked
// about each of them as the run loop asks before it calls a timer's block.
// EXPECT silent
// LIBRARY ../../../CUndeadTests/CaptureCorpus.swift
import CaptureCorpus
import Dispatch
import Foundation

typealias Question = @convention(c) (UnsafeRawPointer?, UnsafeMutablePointer<CChar>?, Int) -> Bool
/// `closure_knows_only_dead` in the table of the instrument (`undead_instrument.h`).
let question: Question? = {
  guard let symbol = dlsym(nil, "undead_instrument_table") else { return nil }
  let find = unsafeBitCast(symbol, to: (@convention(c) (UInt32) -> UnsafeRawPointer?).self)
  return find(1)?.load(fromByteOffset: 10 * MemoryLayout<UInt>.size, as: Question?.self)
}()

func knowsOnlyDead(_ closure: @escaping () -> Void) -> Bool? {
  struct Closure {
    var closure: () -> Void
  }
  let context = withUnsafeBytes(of: Closure(closure: closure)) { bytes in
    bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }
  guard let question, let context else { return nil }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { question(context, $0.baseAddress, $0.count) }
}

nonisolated(unsafe) var kept: [() -> Void] = []
nonisolated(unsafe) var sources: [any DispatchSourceTimer] = []
nonisolated(unsafe) var continuations: [CheckedContinuation<Void, Never>] = []
nonisolated(unsafe) var waiting = DispatchSemaphore(value: 0)

func wait(_ closure: @escaping () -> Void) {
  nonisolated(unsafe) let closure = closure
  Task.detached {
    await withCheckedContinuation { continuation in
      continuations.append(continuation)
      waiting.signal()
    }
    closure()
  }
  waiting.wait()
}

var count = 0
everyCapture { name, _, closure in
  if knowsOnlyDead(closure) == true { print("\(name): captures more than dead objects") }
  closure()
  count += 1
  switch count % 3 {
  case 0: kept.append(closure)
  case 1: wait(closure)
  default:
    let source = DispatchSource.makeTimerSource()
    source.setEventHandler(handler: closure)
    source.schedule(deadline: .now() + .seconds(3600))
    source.resume()
    sources.append(source)
  }
}
deadCaptures { name, closure in
  if knowsOnlyDead(closure) == false { print("\(name): captures dead objects only") }
}
print(count > 100 ? "asked" : "only \(count)")
exit(0)
