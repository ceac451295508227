// The program closes its standard descriptors and opens files in their place: nobody else may write there.
// EXPECT silent
import Glibc

let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
var template = Array("\(temporary)/undead-XXXXXX".utf8CString)
let file = mkstemp(&template)
let saved = dup(1)
dup2(file, 2)
dup2(file, 0)
var nodes: [[Int]] = []
for number in 0..<1000 { nodes.append([number]) }
atexit {
  var status = stat()
  fstat(2, &status)
  dprintf(saved, "size at exit %d\n", status.st_size)
}
@_silgen_name("dprintf") func dprintf(_ file: Int32, _ format: UnsafePointer<CChar>, _ value: Int)
unlink(template)
