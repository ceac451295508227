// exit() is called where the loader's lock is held.
// EXPECT unchecked
// EXPECT exit 8
import Glibc

typealias Visitor = @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32
@_silgen_name("dl_iterate_phdr") func forEachLibrary(_ visit: Visitor, _ context: UnsafeMutableRawPointer?) -> Int32

let kept = [[1], [2]]
_ = forEachLibrary({ _, _, _ in exit(8) }, nil)
print(kept)
