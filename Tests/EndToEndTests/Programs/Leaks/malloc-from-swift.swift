// malloc, calloc, realloc and posix_memalign called by Swift code.
// EXPECT leak kind=unreferenced types=raw*memory count=4 at=malloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=calloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=realloc
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=memalign
import Glibc

@inline(never) @_optimize(none) func use(_ pointer: UnsafeMutableRawPointer?) {
  if pointer == nil { exit(1) }
}

@inline(never) func plain() { use(malloc(300)) }  // @malloc
@inline(never) func cleared() { use(calloc(10, 30)) }  // @calloc
@inline(never) func grown() { use(realloc(nil, 90)) }  // @realloc
@inline(never) func aligned() {
  var pointer: UnsafeMutableRawPointer?
  _ = posix_memalign(&pointer, 64, 640)  // @memalign
  use(pointer)
}
for _ in 0..<4 { plain() }
for _ in 0..<2 { cleared() }
for _ in 0..<2 { grown() }
for _ in 0..<2 { aligned() }
