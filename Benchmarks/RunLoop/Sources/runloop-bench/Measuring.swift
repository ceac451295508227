import Glibc
import Synchronization

/// Nanoseconds of the monotonic clock.
func now() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// RUSAGE_SELF, which the importer gives a type that getrusage does not take.
private let ownProcess = __rusage_who_t(RUSAGE_SELF.rawValue)

/// CPU time of the process in seconds.
func cpuSeconds() -> Double {
  var usage = rusage()
  getrusage(ownProcess, &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

/// Voluntary and involuntary context switches of the process.
func contextSwitches() -> Int {
  var usage = rusage()
  getrusage(ownProcess, &usage)
  return usage.ru_nvcsw + usage.ru_nivcsw
}

/// Resident memory of the process in bytes.
func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var size = 0
  var resident = 0
  let read = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in
      withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) }
    }
  }
  return read == 2 ? resident * Int(getpagesize()) : 0
}

/// Gives memory that was freed back to the system, which would be used again. The module of the C library lacks this.
func giveBackFreeMemory() {
  guard let trim = dlsym(nil, "malloc_trim") else { return }
  _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
}

/// Sorted samples in nanoseconds.
struct Samples {
  private let sorted: [Int64]

  init(_ samples: [Int64]) { sorted = samples.sorted() }

  var count: Int { sorted.count }

  /// A percentile in microseconds.
  func microseconds(_ fraction: Double) -> Double {
    sorted.isEmpty ? .nan : Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))]) / 1000
  }
}

/// Lateness of ticks on a grid, written by one thread at a time.
final class LatenessLog: @unchecked Sendable {
  private(set) var samples: [Int64] = []

  init(capacity: Int) { samples.reserveCapacity(capacity) }

  func note(lateness: Int64) { samples.append(lateness) }

  /// Notes a tick of the grid that starts at `start`.
  func note(start: Int64, interval: Int64) { samples.append((now() - start) % interval) }
}

/// Keeps the process from being seen as single-threaded, which would make atomics and locks cheaper than in real life.
func startIdleThread() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { @Sendable _ in
      while true { sleep(1000) }
    }, nil)
}

func perSecond(_ count: Int, _ nanoseconds: Int64) -> Double { Double(count) / (Double(nanoseconds) / 1e9) }

func millions(_ rate: Double) -> String {
  let hundredths = Int((rate / 1e4).rounded())
  return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) M/s"
}

/// Lets another thread do something and waits for it.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { @Sendable argument in
      if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
}
