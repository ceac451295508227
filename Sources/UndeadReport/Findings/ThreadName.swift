/// Names of threads as people know them.
package enum ThreadName {
  /// Bytes that the kernel keeps.
  package static let longest = 15

  /// The kernel keeps the end of what libdispatch calls its threads, "com.apple.root.default-qos": "oot.default-qos".
  package static func readable(_ name: String) -> String {
    guard name.utf8.count == longest, name.hasSuffix("-qos") || name.hasSuffix("-qos.overcommit") else { return name }
    let kinds = ["default", "utility", "background", "interactive", "initiated", "maintenance"]
    return "worker" + (kinds.first { name.hasSuffix("\($0)-qos") }.map { " (\($0))" } ?? "")
  }
}
