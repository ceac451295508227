import CUndeadTrace
import Glibc

/// Requests and options of ptrace(2), numbers from <linux/ptrace.h>.
package enum Ptrace {
  package static let pokeData: Int32 = 5
  package static let `continue`: Int32 = 7
  package static let singleStep: Int32 = 9
  package static let detach: Int32 = 17
  package static let getRegisters: Int32 = 12
  package static let setRegisters: Int32 = 13
  package static let systemCall: Int32 = 24
  package static let setOptions: Int32 = 0x4200
  package static let eventMessage: Int32 = 0x4201
  package static let getRegisterSet: Int32 = 0x4204
  package static let setRegisterSet: Int32 = 0x4205
  package static let seize: Int32 = 0x4206
  package static let interrupt: Int32 = 0x4207
  package static let peekSignals: Int32 = 0x4209
  package static let getSignalMask: Int32 = 0x420a
  package static let setSignalMask: Int32 = 0x420b
  package static let getFilter: Int32 = 0x420c

  package static let systemCallGood: UInt64 = 1
  package static let traceClone: UInt64 = 8
  package static let exitKill: UInt64 = 1 << 20

  package static let eventClone: Int32 = 3
  package static let xstate: UInt64 = 0x202

  /// Tells of one request; throws what the system said.
  @discardableResult
  package static func request(
    _ request: Int32, _ tid: pid_t, _ address: UInt64 = 0, _ data: UInt64 = 0
  ) throws(PtraceError) -> Int64 {
    let result = undead_trace_request(request, tid, address, data)
    guard result >= 0 else { throw PtraceError(code: Int32(-result)) }
    return result
  }

  /// What the system says to a read of the process's memory by process_vm_readv(2); 0 if that works.
  package static func refusalToRead(_ pid: pid_t, _ address: UInt64) -> Int32 { -undead_trace_read_word(pid, address) }
}

/// What the system said to a request.
package struct PtraceError: Error, Equatable {
  package let code: Int32
}
