// exit() is called where the loader's lock is held.
// EXPECT unchecked
// EXPECT exit 8
import Glibc

let kept = [[1], [2]]
dl_iterate_phdr({ _, _, _ in exit(8) }, nil)
print(kept)
