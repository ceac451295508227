/// What a process has of the system beside memory.
package struct ProcessResources: Sendable, Equatable {
  /// A thread and its name, which the program gives.
  package struct Thread: Sendable, Equatable {
    package var id: UInt32
    package var name: String
    /// The call of the kernel in which it waits for an open file; empty if it does not.
    package var call: String

    package init(id: UInt32, name: String, call: String = "") {
      self.id = id
      self.name = name
      self.call = call
    }
  }

  package var descriptors: [OpenDescriptor]
  package var threads: [Thread]

  package init(descriptors: [OpenDescriptor], threads: [Thread]) {
    self.descriptors = descriptors
    self.threads = threads
  }

  #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
    /// Of a process as it is now; empty lists where they may not be read.
    ///
    /// - Parameter process: `self` for the caller's.
    package init(of process: String) {
      descriptors = OpenDescriptor.all(of: process)
      threads = Folder.names(in: "/proc/\(process)/task").compactMap { UInt32($0) }.sorted().map { id in
        let name = WholeFile.read("/proc/\(process)/task/\(id)/comm") ?? []
        return Thread(id: id, name: String(decoding: name.filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
      }
      addCalls(of: process)
    }

    /// What the threads wait for. A process that is stopped shows no calls.
    private mutating func addCalls(of process: String) {
      #if arch(x86_64)
        var waiters: [Int32: UInt32] = [:]
        for index in threads.indices {
          guard let call = WaitingCall(of: threads[index].id, process: process) else { continue }
          threads[index].call = call.name
          for descriptor in call.descriptors where waiters[descriptor] == nil {
            waiters[descriptor] = threads[index].id
          }
        }
        for index in descriptors.indices where !descriptors[index].isOfDispatch {
          descriptors[index].waiter = waiters[descriptors[index].number] ?? 0
        }
      #endif
    }

    /// How many there are of each, without a look at any; 0 where that is not known.
    package static func counts(of process: String) -> (descriptors: Int, threads: Int) {
      (Folder.names(in: "/proc/\(process)/fd").count, Folder.names(in: "/proc/\(process)/task").count)
    }
  #else
    /// Nothing is known of any process here.
    package init(of process: String) { self.init(descriptors: [], threads: []) }
  #endif
}
