// The program shuts itself into an empty directory.
// EXPECT any
import Glibc

let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
var template = Array("\(temporary)/undead-XXXXXX".utf8CString)
mkdtemp(&template)
if getuid() == 0 {
  let name = String(cString: template).split(separator: "/").last ?? ""
  let outside = open(temporary, O_RDONLY | O_DIRECTORY)
  print(chroot(template) == 0)
  chdir("/")
  unlinkat(outside, String(name), AT_REMOVEDIR)
} else {
  print(true)
}
