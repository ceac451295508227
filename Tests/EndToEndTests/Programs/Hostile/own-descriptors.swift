// The program lists its descriptors and where they lead.
// EXPECT silent
import Glibc

var text: [CChar] = .init(repeating: 0, count: 4096)
for descriptor in 0..<256 {
  guard fcntl(Int32(descriptor), F_GETFD) != -1 else { continue }
  let length = readlink("/proc/self/fd/\(descriptor)", &text, text.count - 1)
  let target = length > 0 ? String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : "?"
  print(descriptor, fcntl(Int32(descriptor), F_GETFD), descriptor < 3 ? "" : target)
}
let next = open("/dev/null", O_RDONLY)
print("next", next)
