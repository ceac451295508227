// The program shuts itself into an empty directory.
// EXPECT any
import Glibc

var template = Array("/tmp/undead-XXXXXX".utf8CString)
mkdtemp(&template)
if getuid() == 0 {
  print(chroot(template) == 0)
  chdir("/")
} else {
  print(true)
}
