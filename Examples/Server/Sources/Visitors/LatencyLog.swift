import Glibc

/// One request after the other on one connection, and how long each took.
enum LatencyLog {
  /// Writes a line for each request: when it was sent, and how long the answer took, in nanoseconds since 1970.
  static func record(_ connection: Connection, path: String, seconds: Double, file: String) -> Bool {
    guard let output = fopen(file, "w") else { return false }
    defer { fclose(output) }
    let end = now() + UInt64(seconds * 1e9)
    var sent = now()
    while sent < end {
      guard connection.get(path) else { return false }
      let answered = now()
      fputs("\(sent) \(answered - sent)\n", output)
      // Leaves the processor to the server: this is a visitor among many.
      usleep(500)
      sent = now()
    }
    return true
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
