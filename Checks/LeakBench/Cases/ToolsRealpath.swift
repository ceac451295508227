// source: swiftlang/swift-tools-support-core 46d56c2
// The C library returns a resolved path that the caller must free.
// expect: leak raw in resolveLinks

import Glibc

enum ToolsRealpath: LeakCase {
  @inline(never) static func resolveLinks(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    let result = String(cString: resolved)
    #if FIXED
      free(resolved)
    #endif
    return result
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { precondition(resolveLinks("/proc/..") == "/") }
  }
}
