import Glibc
import Testing

@testable import UndeadAttach

/// The process that takes away what a killed tool leaves.
@Suite struct GuardianTests {
  @Test func itsEndDoesNotEndTheTool() throws {
    let guardian = Guardian(of: getpid())
    let process = guardian.process
    try #require(process > 0)
    #expect(kill(process, SIGKILL) == 0)
    var end = siginfo_t()
    #expect(waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) == 0)
    guardian.dismiss()
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }
}
