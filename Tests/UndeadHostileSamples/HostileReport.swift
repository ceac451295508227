import Foundation
import UndeadReport

/// Reports of which every value is up to the input: the JSON of a full report, in which texts, numbers and lengths are
/// replaced. What the reader of JSON does not take is left as it was.
package enum HostileReport {
  package static func make(_ input: inout HostileInput) -> LeakReport {
    let plain = SampleReport.full
    guard let data = try? JSONRenderer.render(plain), let json = try? JSONDecoder().decode(JSONValue.self, from: data),
      case .object(let fields) = json
    else { return plain }
    var result = plain
    // Part by part, so that one that is not taken costs only itself.
    for name in fields.keys.sorted() where name != "schemaVersion" {
      var changed = fields
      changed[name] = value(fields[name]!, &input)
      guard let data = try? JSONEncoder().encode(JSONValue.object(changed)), let report = try? JSONRenderer.parse(data)
      else { continue }
      switch name {
      case "tool": result.tool = report.tool
      case "process": result.process = report.process
      case "summary": result.summary = report.summary
      case "leaks": result.leaks = report.leaks
      case "suspects": result.suspects = report.suspects
      case "knownLeaks": result.knownLeaks = report.knownLeaks
      case "zombies": result.zombies = report.zombies
      case "diagnostics": result.diagnostics = report.diagnostics
      default: break
      }
    }
    if input.byte() % 2 == 1 { result.runLoops = value(runLoops, &input) }
    if input.byte() % 2 == 1 { result.updateCounts() }
    return result
  }

  private static let runLoops = JSONValue.object([
    "loops": .array([
      .object([
        "name": .string("main"), "fires": .integer(7), "missed": .integer(1), "owner": .string("App.Owner"),
        "ownerAlive": .bool(false), "runningMode": .string("default"),
        "modes": .array([.object(["timers": .integer(9)])]),
        "timers": .array([
          .object([
            "name": .string("tick"), "interval": .number(0.25), "modes": .array([.string("default")]),
            "fires": .integer(3),
            "missed": .integer(2), "worstLateness": .number(1.5),
            "target": .object(["type": .string("App.Clock"), "holding": .string("weak"), "isAlive": .bool(false)]),
          ])
        ]),
      ])
    ])
  ])

  private static func value(_ plain: JSONValue, _ input: inout HostileInput) -> JSONValue {
    if input.isEmpty { return plain }
    switch plain {
    case .null, .bool: return plain
    case .string(let text): return .string(input.string(text))
    case .integer(let number): return .integer(input.number(number))
    case .number(let number): return .number(input.double(number))
    case .array(let elements):
      switch input.byte() {
      case 0...16: return .array([])
      case 17...40: return .array((elements + elements).map { value($0, &input) })
      // A cycle, path or stack of many.
      case 41...44: return .array((0..<40).flatMap { _ in elements }.map { value($0, &input) })
      default: return .array(elements.map { value($0, &input) })
      }
    case .object(let fields):
      var result: [String: JSONValue] = [:]
      for (key, field) in fields.sorted(by: { $0.key < $1.key }) { result[key] = value(field, &input) }
      return .object(result)
    }
  }
}
