import Testing
import UndeadProfile
import UndeadTestSupport

/// What another program takes out of the files is what was put in, and the files are smaller.
@Suite struct GzipTests {
  private func random(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 7)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  private func repeated(_ distance: Int, _ length: Int) -> [UInt8] {
    let start = random(distance)
    return start + start.prefix(length) + [1]
  }

  @Test(arguments: [0, 1, 3, 4, 5, 258, 65_535, 65_536, 200_000])
  func lengths(_ count: Int) throws {
    let regular = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    for bytes in [regular, random(count), [UInt8](repeating: 0, count: count)] {
      #expect(try gunzip(Gzip.compress(bytes)) == bytes)
    }
  }

  /// Every length and every power of two of a distance, and those that are too far.
  @Test func references() throws {
    var bytes: [UInt8] = []
    for length in 0...300 { bytes += repeated(300, length) }
    for distance in (2...15).map({ 1 << $0 }) + [32_769, 40_000] {
      for near in distance - 1...distance + 1 { bytes += repeated(near, 40) }
    }
    #expect(try gunzip(Gzip.compress(bytes)) == bytes)
  }

  @Test func textsBecomeSmaller() {
    let text = (0..<1000).map { "function number \($0) of the program\n" }.joined()
    #expect(Gzip.compress(Array(text.utf8)).count < text.utf8.count / 3)
    #expect(Gzip.compress(random(10_000)).count < 11_000)
  }
}
