import UndeadSystem

/// Runs work on a thread of its own: ptrace belongs to a thread, and its end lets go whatever it still holds.
package enum TracerThread {
  private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  package static func run<Value>(
    _ body: () throws(AttachError) -> Value
  ) throws(AttachError) -> Value {
    var result: Result<Value, AttachError>?
    withoutActuallyEscaping(body) { body in
      let work = Work {
        do throws(AttachError) {
          result = .success(try body())
        } catch {
          result = .failure(error)
        }
      }
      var thread = pthread_t()
      let opaque = Unmanaged.passRetained(work).toOpaque()
      let code = pthread_create(
        &thread, nil,
        {
          Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body()
          return nil
        }, opaque)
      if code == 0 {
        pthread_join(thread, nil)
      } else {
        Unmanaged<Work>.fromOpaque(opaque).release()
        result = .failure(.failure("cannot make a thread to trace from: \(SystemError.text(code))"))
      }
    }
    return try result!.get()
  }
}
