// Releases that nobody owed.
import CParts
import Glibc

// MARK: close() and deinit both release

// BUG closed-twice kind=release|retain type=App.Handle
final class Handle {
  var file: Int32 = 3
  var offset = 0
}
final class Stream {
  let handle: Unmanaged<Handle>
  init() {
    handle = Unmanaged.passRetained(Handle())  // allocated closed-twice
  }
  @inline(never) func close() {
    handle.release()  // freed closed-twice
    use(1)
  }
  deinit {
    handle.release()  // used closed-twice
    use(2)
  }
}
private func closedTwice() {
  let stream = opaque(Stream())
  stream.close()
}

// MARK: A callback that is called twice takes its context twice

// BUG context-taken-twice kind=retain|release|field type=App.Upload
final class Upload {
  var parts = 1
  @inline(never) func done() { use(parts) }
}
@inline(never) private func complete(_ context: UnsafeMutableRawPointer) {
  let upload = Unmanaged<Upload>.fromOpaque(context).takeRetainedValue()  // used context-taken-twice
  upload.done()
}  // freed context-taken-twice
private func contextTakenTwice() {
  let context = Unmanaged.passRetained(Upload()).toOpaque()  // allocated context-taken-twice
  complete(context)
  complete(context)
}

// MARK: A dictionary whose storage is released by who borrowed it

// BUG dictionary-over-released kind=release|retain|field type=*_DictionaryStorage*
private func dictionaryOverReleased() {
  let words = makeWords()
  borrowWrongly(words)
  lookUp(words)
}
@inline(never) private func makeWords() -> [Int: Int] {
  var words: [Int: Int] = [:]
  words[opaque(1)] = 2  // allocated dictionary-over-released
  return words
}
@inline(never) @_optimize(none) private func borrowWrongly(_ words: [Int: Int]) {
  let storage = unsafeBitCast(words, to: UnsafeRawPointer.self)
  Unmanaged<AnyObject>.fromOpaque(storage).release()  // freed dictionary-over-released
  use(1)
}
@inline(never) @_optimize(none) private func lookUp(_ words: [Int: Int]) {
  use(words[1] ?? 0)  // used dictionary-over-released
}

// MARK: A thread's value is released by its destructor and by hand

// BUG thread-value kind=release|retain type=App.ThreadCache
final class ThreadCache { var hits = 0 }
@inline(never) private func forget(_ cache: UnsafeMutableRawPointer) {
  Unmanaged<ThreadCache>.fromOpaque(cache).release()  // used thread-value
  use(1)
}
private func threadValue() {
  var key = pthread_key_t()
  pthread_key_create(&key) { forget($0!) }
  let made = key
  onThread {
    let cache = Unmanaged.passRetained(ThreadCache())  // allocated thread-value
    pthread_setspecific(made, cache.toOpaque())
    cache.release()  // freed thread-value
    use(2)
  }
}

// MARK: An error that was released by who reported it

// BUG error-over-released kind=release|retain type=App.Refused
struct Refused: Error { var code = 4, reason = "a reason of more than fifteen bytes" }
@inline(never) @_optimize(none) private func makeError() -> UnsafeRawPointer {
  let error: any Error = Refused()  // allocated error-over-released
  return UnsafeRawPointer(Unmanaged.passRetained(unsafeBitCast(error, to: AnyObject.self)).toOpaque())
}
@inline(never) private func report(_ error: UnsafeRawPointer) {
  Unmanaged<AnyObject>.fromOpaque(error).release()  // freed error-over-released
  use(11)
}
@inline(never) private func again(_ error: UnsafeRawPointer) {
  Unmanaged<AnyObject>.fromOpaque(error).release()  // used error-over-released
  use(2)
}
private func errorOverReleased() {
  let error = makeError()
  report(error)
  again(error)
}

let counts: [(name: String, run: () -> Void)] = [
  ("closed-twice", closedTwice), ("context-taken-twice", contextTakenTwice),
  ("dictionary-over-released", dictionaryOverReleased), ("thread-value", threadValue),
  ("error-over-released", errorOverReleased),
]
