#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  // What `/proc` says of the pages of a process. There may be millions, and most is asked while the process stands still: it is here, as
  // release builds optimise this module, but not the ones that ask.

  extension MemoryMap.Region {
    /// The pages that are in memory or swapped out, as `/proc/PID/pagemap` says; none from where it ends.
    package func touchedPages(_ pagemap: Int32) -> [Range<UInt64>] {
      let (page, touched): (UInt64, UInt64) = (4096, 3 << 62)
      var ranges: [Range<UInt64>] = []
      var entries = [UInt64](repeating: 0, count: 1 << 13)
      var address = start
      while address < end {
        let wanted = min(entries.count, Int((end - address) / page))
        let count = entries.withUnsafeMutableBytes {
          pread(pagemap, $0.baseAddress, wanted * 8, off_t(address / page * 8))
        }
        guard count >= 8 else { break }
        for index in 0..<count / 8 where entries[index] & touched != 0 {
          let start = address + UInt64(index) * page
          if let last = ranges.last, last.upperBound == start {
            ranges[ranges.count - 1] = last.lowerBound..<start + page
          } else {
            ranges.append(start..<start + page)
          }
        }
        address += UInt64(count / 8) * page
      }
      return ranges
    }
  }

  extension MemoryMap {
    /// What a copy of a process does not get, or gets empty: `VmFlags` of `/proc/PID/smaps` say `dc`, do not copy, or `wf`, wipe on
    /// fork, and not `io`, of a device. Takes long: to be asked before the program stands still.
    package static func uncopied(process: Int32) -> [Range<UInt64>] {
      let smaps = WholeFile.read("/proc/\(process)/smaps") ?? []
      return smaps.withUnsafeBytes { uncopied(smaps: $0) }
    }

    /// The same of a text; each mapping has its line as in `maps`, and some 25 with a word of a capital and a colon.
    package static func uncopied(smaps: UnsafeRawBufferPointer) -> [Range<UInt64>] {
      var ranges: [Range<UInt64>] = []
      var mapping = smaps[..<0]
      var rest = smaps[...]
      while let first = rest.first, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress {
        let length = memchr(start, 10, rest.count).map { UnsafeRawPointer($0) - start } ?? rest.count
        let line = rest.prefix(length)
        rest = rest.dropFirst(length + 1)
        if first < UInt8(ascii: "A") || first > UInt8(ascii: "Z") {
          mapping = line
        } else if first == UInt8(ascii: "V") {
          let flags = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
          if flags.contains("dc") || flags.contains("wf"), !flags.contains("io") {
            ranges += MemoryMap(text: Array(mapping)).regions.map { $0.start..<$0.end }
          }
        }
      }
      return ranges
    }
  }
#endif
