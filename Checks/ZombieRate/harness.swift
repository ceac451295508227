import Glibc

// Trials of one bug: each makes an object or a block, ends its life, and uses it after that. What is found is what the
// instrument counts (`undead_zombies_read_counters`).
//
// A block that was not chosen is in glibc's list of free blocks by then, where its first two words are overwritten. They are put
// back for the time of the use, so that each bug does what it does in a program whose memory was not reused yet: nothing. Whether
// the page was taken away is asked of the kernel, which touches nothing.

/// A bug, and its twin that uses the block while it lives.
struct Bug {
  var name: String
  /// Blocks of a trial of which each is a chance.
  var chances = 1
  var trial: (_ isClean: Bool) -> Void
}

typealias Words = (UInt, UInt)

/// A file for what the kernel copies. By pwritev(), since a write() of a dead block is a use, which is reported.
nonisolated(unsafe) private var probe: (pid: pid_t, file: Int32) = (0, 0)

/// The first two words of a block; false if its page, or that of the word behind them (a guarded object's fields), is not there. The
/// kernel finds that out without a fault.
@inline(never) func read(_ block: UnsafeMutableRawPointer, _ words: inout Words) -> Bool {
  if probe.pid != getpid() { probe = (getpid(), fileno(tmpfile())) }
  var buffer = iovec(iov_base: block, iov_len: 24)
  var three = (UInt(0), UInt(0), UInt(0))
  guard pwritev(probe.file, &buffer, 1, 0) == 24, pread(probe.file, &three, 24, 0) == 24 else { return false }
  words = (three.0, three.1)
  return true
}

/// Uses a dead block: as it was, unless its page was taken away.
@inline(never) func revive(_ block: UnsafeMutableRawPointer, as alive: Words, _ use: () -> Void) {
  var free: Words = (0, 0)
  guard read(block, &free) else { return use() }
  block.storeBytes(of: alive.0, as: UInt.self)
  block.storeBytes(of: alive.1, toByteOffset: 8, as: UInt.self)
  use()
  block.storeBytes(of: free.0, as: UInt.self)
  block.storeBytes(of: free.1, toByteOffset: 8, as: UInt.self)
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func drop<T>(_ value: inout T?) {
  value = nil
  done()
}

/// The words of an object, with so many references more than it has that no use takes the last one.
@inline(never) @_optimize(none) func words<T: AnyObject>(of object: T) -> Words {
  let reference = Unmanaged.passUnretained(object)
  for _ in 0..<3 { _ = reference.retain() }
  var words: Words = (0, 0)
  _ = read(reference.toOpaque(), &words)
  for _ in 0..<3 { reference.release() }
  return words
}

/// A bug with an object.
func object<T: AnyObject>(
  _ name: String, _ make: @escaping () -> T, clean: ((Unmanaged<T>) -> Void)? = nil,
  _ use: @escaping (Unmanaged<T>) -> Void
) -> Bug {
  Bug(name: name) { isClean in
    var strong: T? = make()
    let reference = Unmanaged.passUnretained(strong!)
    let alive = words(of: strong!)
    if isClean {
      (clean ?? use)(reference)
      return drop(&strong)
    }
    drop(&strong)
    revive(reference.toOpaque(), as: alive) { use(reference) }
  }
}

/// A bug with raw memory, which is used behind its first two words.
func raw(
  _ name: String, size: Int, _ use: @escaping (UnsafeMutableRawPointer) -> Void
) -> Bug {
  Bug(name: name) { isClean in
    let block = allocate(size)
    if isClean { use(block) }
    deallocate(block, size)
    if !isClean { use(block) }
  }
}

@inline(never) @_optimize(none) func allocate(_ size: Int) -> UnsafeMutableRawPointer {
  let block = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
  block.initialize(repeating: 7, count: size)
  return UnsafeMutableRawPointer(block)
}

@inline(never) @_optimize(none) func deallocate(_ block: UnsafeMutableRawPointer, _ size: Int) {
  block.assumingMemoryBound(to: UInt8.self).deallocate()
  done()
}

/// What uses give away, so that they are not optimised out.
nonisolated(unsafe) var sink = 0
@inline(never) @_optimize(none) func take(_ number: Int) { sink &+= number }

// MARK: A second thread

/// Does what it is asked to, on a thread of its own.
final class Worker: @unchecked Sendable {
  private var start = sem_t(), end = sem_t()
  private var work: () -> Void = {}

  init() {
    sem_init(&start, 0, 0)
    sem_init(&end, 0, 0)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Worker>.fromOpaque(context!).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
  }

  private func run() {
    while true {
      sem_wait(&start)
      work()
      sem_post(&end)
    }
  }

  func run(_ work: @escaping () -> Void) {
    self.work = work
    sem_post(&start)
    sem_wait(&end)
    self.work = {}
  }
}

/// Made by the process that needs it: a forked one has no threads but its own.
nonisolated(unsafe) var worker: Worker!

// MARK: Counting

private typealias Counters = @convention(c) (UnsafeMutableRawPointer) -> Void
private let counters: Counters? = dlsym(nil, "undead_zombies_read_counters").map {
  unsafeBitCast($0, to: Counters.self)
}
/// Of `zombies` in `undead_zombie_counters`.
private let usesOffset = 14 * 8

/// Uses of dead blocks that the instrument has seen in this process.
func uses() -> UInt64 {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
    counters?(buffer.baseAddress!)
    return buffer.load(fromByteOffset: usesOffset, as: UInt64.self)
  }
}

/// True if the instrument saw the trial.
func isFound(_ bug: Bug) -> Bool {
  let before = uses()
  bug.trial(false)
  return uses() > before
}

// MARK: Processes

struct Outcome {
  /// Up to the first one that was found.
  var trials = 0
  var found = 0
  /// Of the next ones.
  var later = 0
}

nonisolated(unsafe) private let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

/// Runs trials in a forked process until one is found.
func outcome(of bug: Bug, most: Int, next: Int) -> Outcome? {
  var ends: [Int32] = [0, 0]
  guard pipe(&ends) == 0 else { return nil }
  let pid = fork()
  if pid == 0 {
    var outcome = Outcome()
    worker = Worker()
    while outcome.trials < most, outcome.found == 0 {
      outcome.trials += 1
      if isFound(bug) { outcome.found = 1 }
    }
    if outcome.found > 0 { for _ in 0..<next where isFound(bug) { outcome.later += 1 } }
    withUnsafeBytes(of: outcome) { _ = write(ends[1], $0.baseAddress, $0.count) }
    _exit(0)
  }
  close(ends[1])
  var result = Outcome()
  let count = withUnsafeMutableBytes(of: &result) { read(ends[0], $0.baseAddress, $0.count) }
  close(ends[0])
  var status: Int32 = 0
  waitpid(pid, &status, 0)
  return count == MemoryLayout<Outcome>.size ? result : nil
}
