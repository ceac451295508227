#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// The ends of sockets, by their inodes, from the tables of `/proc/PID/net`.
  ///
  /// Tables are of the whole network namespace, and have what others put there: a line that does not look as it should is left out,
  /// and no more is read than a limit.
  struct SocketNames {
    private var names: [UInt64: String] = [:]

    subscript(inode: UInt64) -> String? { names[inode] }

    private let inodes: Set<UInt64>

    /// - Parameters:
    ///   - inodes: of the sockets that are looked for.
    ///   - table: reads the table of a name, such as `tcp`; nil if there is none.
    init(inodes: Set<UInt64>, table: (String) -> [UInt8]?) {
      self.inodes = inodes
      func read(_ name: String, _ body: (ArraySlice<UInt8>) -> Void) {
        guard names.count < inodes.count, let bytes = table(name) else { return }
        // The first line names the columns.
        for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst() { body(line) }
      }
      for name in ["tcp", "tcp6", "udp", "udp6"] { read(name) { add(internet: $0, name) } }
      read("unix") { add(local: $0) }
      read("netlink") { line in
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        if words.count > 9, let inode = wanted(words[9]) { names[inode] = "netlink" }
      }
    }

    private func wanted(_ word: Substring) -> UInt64? {
      UInt64(word).flatMap { inodes.contains($0) ? $0 : nil }
    }

    /// `sl: local remote state tx:rx tr:when retransmits uid timeout inode ...`
    private mutating func add(internet line: ArraySlice<UInt8>, _ table: String) {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      guard words.count > 9, let inode = wanted(words[9]), let local = Self.address(words[1]),
        let remote = Self.address(words[2]), let state = UInt8(words[3], radix: 16)
      else { return }
      let name = table.hasPrefix("tcp") ? "TCP" : "UDP"
      let isConnected = remote.port != 0
      let states = table.hasPrefix("tcp") ? Self.states[state].map { ", \($0)" } ?? "" : ""
      names[inode] = "\(name) \(local.text)" + (isConnected ? " \u{2192} \(remote.text)" : "") + states
    }

    /// tcp_states.h, but for connections that are open, which is nothing to say.
    private static let states: [UInt8: String] = [
      2: "connecting", 3: "being accepted", 4: "closing", 5: "closing", 6: "closed", 7: "not connected",
      8: "closed by the peer", 9: "closing", 10: "listening", 11: "closing",
    ]

    /// "0100007F:1F90": each four bytes of the address in the machine's order.
    private static func address(_ word: Substring) -> (text: String, port: UInt16)? {
      let parts = word.split(separator: ":")
      guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { return nil }
      let digits = Array(parts[0].utf8)
      guard digits.count == 8 || digits.count == 32 else { return nil }
      var numbers: [UInt32] = []
      for start in stride(from: 0, to: digits.count, by: 8) {
        guard let number = UInt32(String(decoding: digits[start..<start + 8], as: UTF8.self), radix: 16) else {
          return nil
        }
        numbers.append(number)
      }
      let isShort = numbers.count == 1
      let text = numbers.withUnsafeBytes { bytes in
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer -> String? in
          guard
            inet_ntop(
              isShort ? AF_INET : AF_INET6, bytes.baseAddress!, buffer.baseAddress!, socklen_t(buffer.count)) != nil
          else { return nil }
          return String(cString: buffer.baseAddress!)
        }
      }
      guard let text else { return nil }
      return (isShort ? "\(text):\(port)" : "[\(text)]:\(port)", port)
    }

    /// `num: count protocol flags type state inode path`; the path may have blanks, and begins with `@` if it is in no folder.
    private mutating func add(local line: ArraySlice<UInt8>) {
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
      guard words.count > 6,
        let inode = wanted(String(decoding: words[6], as: UTF8.self)[...])
      else { return }
      let isListening = String(decoding: words[3], as: UTF8.self) == "00010000"
      let path = words.count > 7 ? String(decoding: words[7], as: UTF8.self) : ""
      names[inode] = (path.isEmpty ? "local" : "local \(path)") + (isListening ? ", listening" : "")
    }
  }
#endif
