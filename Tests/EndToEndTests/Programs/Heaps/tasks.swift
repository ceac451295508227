// What waiting tasks, actors, groups, streams and continuations hold: each object is owned by counted references, or by frames.
// EXPECT silent
// LIBRARY Library/HeapTruth.swift
// FLAGS -parse-as-library
import Foundation
import HeapTruth

func leaf(_ name: String) -> Leaf { noted(name, Leaf()) }
actor Gate {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var items: [Int: Leaf] = [:]
  var count: Int { waiting.count }
  func wait() async { await withCheckedContinuation { waiting.append($0) } }
  func put(_ number: Int) { items[number] = leaf("actor") }
}
let gate = Gate()
let (stream, continuation) = AsyncStream<Leaf>.makeStream()
nonisolated(unsafe) var kept: [Any] = []

func wait(_ argument: Leaf) async {
  let local = leaf("frame")
  await gate.wait()
  local.use()
  argument.use()
}
func child() async -> Leaf {
  let local = leaf("frame")
  await gate.wait()
  return local
}
func group() async {
  let local = leaf("frame")
  await withTaskGroup(of: Leaf.self) { group in
    for _ in 0..<3 { group.addTask { await child() } }
    for await one in group { one.use() }
  }
  local.use()
}
func children() async {
  async let one = child()
  async let two = child()
  let local = leaf("frame")
  for each in await [one, two] { each.use() }
  local.use()
}
func consume() async {
  let local = leaf("frame")
  for await value in stream {
    await gate.wait()
    value.use()
  }
  local.use()
}
func waitUnsafely() async {
  let local = leaf("frame")
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in kept.append(continuation) }
  local.use()
}

@main struct Program {
  static func main() async {
    for i in 0..<5 { await gate.put(i) }
    for _ in 0..<10 {
      let captured = leaf("capture")
      kept.append(Task { await wait(captured) })
    }
    for _ in 0..<10 {
      let captured = leaf("capture")
      Task.detached { await wait(captured) }
    }
    Task { await group() }
    Task { await children() }
    Task { await consume() }
    Task { await waitUnsafely() }
    for _ in 0..<5 { continuation.yield(leaf("stream")) }
    while await gate.count < 26 || kept.count < 11 { await Task.yield() }
    tellNoted("HeapTruth.Leaf", borrowed: ["frame", "stream"])
    exit(0)
  }
}
