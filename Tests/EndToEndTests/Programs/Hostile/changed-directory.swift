// The program changes its directory, its mask and its root's view of the world before it ends.
// EXPECT silent
import Glibc

let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
var template = Array("\(temporary)/undead-XXXXXX".utf8CString)
mkdtemp(&template)
chdir(template)
rmdir(template)
umask(0o777)
setenv("TMPDIR", "/nonexistent", 1)
setenv("HOME", "/nonexistent", 1)
clearenv()
print("moved")
