// source: groue/GRDB.swift 5d196c449
// An observation of values kept the database that it reads from, and the database keeps its observations. The fix reads
// from a weak reference.
// expect: leak Writer via Observation.fetch

enum GRDBObservation: LeakCase {
  final class Observation<Value> {
    let fetch: () -> Value?
    var latest: Value?
    init(fetch: @escaping () -> Value?) { self.fetch = fetch }
    func changed() { latest = fetch() }
  }

  final class Writer {
    private var observers: [() -> Void] = []
    private var rows = [1, 2, 3]

    func observe() {
      #if FIXED
        let observation = Observation<[Int]> { [weak self] in self?.rows }
      #else
        let observation = Observation<[Int]> { self.rows }
      #endif
      observers.append(observation.changed)
    }

    func write(_ row: Int) {
      rows.append(row)
      for observer in observers { observer() }
    }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds {
      let writer = Writer()
      writer.observe()
      writer.write(round)
    }
  }
}
