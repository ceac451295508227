// A program that leaks, waits or misbehaves in the way that its first argument names, scans itself and prints counts.
import Dispatch
import Foundation

let arguments = CommandLine.arguments
let copy = arguments.contains("copy")
var scans = 1
switch arguments[1] {
case "simple":
  leakCycles(1000)
  leakClosures(1000)
  leakRawMemory(50)
case "hanging-continuation", "hanging-stream", "hanging-group":
  startHangingTasks(String(arguments[1].dropFirst(8)), 1000)
  wait_until_others_sleep()
case "live":
  fillGlobals()
  startLiveTasks()
  startLiveThreads()
  waitForLiveTasks()
  scans = 20
case "odd":
  holdInOddPlaces()
  scans = 3
case "suspects":
  startSuspects()
  wait_until_others_sleep()
case "watched":
  let node = Node()
  node.next = Node()
  kept.append(node)
  report(scan_now(copy, false, Unmanaged.passUnretained(node.next!).toOpaque()))
  exit(0)
case "owned":
  ownByThread()
  wait_until_others_sleep()
  report(scan_now(copy, false, UnsafeMutableRawPointer(bitPattern: ~hiddenChild)!))
  exit(0)
case "dead-threads":
  run_short_threads(200) { _ in passRetained() }
case "reused-thread":
  // The scan's own thread leaves its stack and its vector of thread-local storage to the next ones.
  report(scan_now(copy, false, nil))
  for _ in 0..<3 { start_thread_with_dynamic_value(passRetained()) }
case "cached-blocks":
  leaveChunks(long: arguments.contains("long"))
  leaveInCache(addressesOfLeakedCycles(50))
case "recycled-memory":
  recycleMemory(addressesOfLeakedCycles(100))
case "waiting-arrays":
  waitWithArrays(addressesOfLeakedCycles(50))
  wait_until_others_sleep()
case "ending-threads":
  let disguised = addressesOfLeakedCycles(50)
  for _ in 0..<5 { scanBesideEndingThread(disguised, ofEachSize: 5000, inCopy: copy) }
  exit(0)
case "ending-thread-that-waits":
  scanBesideEndingThread([1], ofEachSize: 5000, waits: true, inCopy: copy)
  exit(0)
case "texts":
  keepTexts(addressesOfLeakedCycles(50))
case "denied", "killed-by-filter":
  leakCycles(1000)
  deny_ptrace(arguments[1] == "killed-by-filter")
case "storm":
  leakCycles(1000)
  for index in 0..<8 {
    Thread.detachNewThread {
      var nodes: [[Node]] = []
      for round in 0... {
        nodes.append((0..<10).map { _ in Node() })
        if nodes.count > 100 { nodes.removeAll() }
        if index == 0 && round % 1000 == 0 { Thread { sink(Node()) }.start() }
      }
    }
  }
  scans = 40
case "signals":
  start_signals()
  for _ in 0..<100 { report(scan_now(copy, false, nil)) }
  print("disturbed \(check_signals())")
  exit(0)
case "fiber":
  start_fiber(disguisedCycle())
  leakCycles(1000)
  wait_until_others_sleep()
  report(scan_now(copy, false, nil))
  switch_to_fiber()
  wait_until_others_sleep()
case "timeouts":
  start_timeouts()
  for _ in 0..<1000 where !timeouts_have_ended() {
    let counts = scan_now(copy, false, nil)
    if counts.error != 0 { report(counts) }
    usleep(10_000)
  }
  print_timeouts()
  exit(0)
case "helper-killed":
  leakCycles(1000)
  start_killer()
  var killed = 0
  for _ in 0..<10_000 where killed < 10 {
    let counts = scan_now(copy, false, nil)
    killed += counts.error == 4 ? 1 : 0
    report(counts)
  }
  stop_killer()
case "allocating":
  for _ in 0..<3 { start_allocating_thread(disguisedReference()) }
  scans = 20
case "vfork":
  leakCycles(1000)
  start_vfork()
  report(scan_now(copy, false, nil))
  print("watched \(microseconds_watched())")
  exit(0)
case "blocking":
  leakCycles(1000)
  start_blocking()
  report(scan_now(copy, false, nil))
  exit(0)
case "graph":
  print("unreached \(makeGraph(UInt64(arguments[2])!, 100_000, holes: arguments.contains("holes") ? 8 : 0))")
  if let filter = ["fail", "trap", "kill"].firstIndex(where: arguments.contains) {
    deny_threads(thread_filter(UInt32(filter)))
  }
case "many":
  func tree(_ depth: Int) -> Node {
    let node = Node()
    if depth > 0 {
      node.next = tree(depth - 1)
      kept.append(tree(depth - 1))
    }
    return node
  }
  kept.append(tree(14))
default:
  fatalError("no such mode")
}
for _ in 0..<scans { report(scan_now(copy, arguments.contains("suspects"), nil)) }
exit(0)
