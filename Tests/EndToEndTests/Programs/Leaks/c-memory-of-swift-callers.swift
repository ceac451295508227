// Memory that C functions return to their Swift callers, who must free it.
// EXPECT leak kind=unreferenced types=raw*memory count=3 at=strdup
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=realpath
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=getcwd
import Glibc

@inline(never) func copied(_ text: String) -> Int { strlen(strdup(text)) }  // @strdup
@inline(never) func resolved() -> Int { strlen(realpath("/tmp/../usr", nil)) }  // @realpath
@inline(never) func directory() -> Int { strlen(getcwd(nil, 0)) }  // @getcwd

for number in 0..<3 { print(copied("text \(number)")) }
for _ in 0..<2 { print(resolved()) }
for _ in 0..<2 { print(directory() > 0) }
