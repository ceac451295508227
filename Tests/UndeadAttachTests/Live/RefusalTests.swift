import Glibc
import Testing

@testable import UndeadAttach

/// What is said where the system does not let a process be looked at.
@Suite struct RefusalTests {
  private static let trace: UInt64 = 1 << 19
  private static let override: UInt64 = 1 << 1
  private static let search: UInt64 = 1 << 2

  private func message(owner: String, user: String, capabilities: UInt64 = 0, scope: Character = "0") -> String {
    var refusal = Refusal(pid: 17)
    refusal.owner = owner
    refusal.user = user
    refusal.capabilities = capabilities
    refusal.scope = scope
    return refusal.message
  }

  @Test func theCapabilityThatIsMissingIsNamed() {
    let ofRoot = message(owner: "1000", user: "0", capabilities: Self.trace)
    #expect(ofRoot.contains("not DAC_READ_SEARCH") && ofRoot.contains("/proc/17/mem is refused"), "\(ofRoot)")
    #expect(!ofRoot.contains("as root"))
    let withoutTrace = message(owner: "1000", user: "0", capabilities: Self.override)
    #expect(withoutTrace.contains("needs the capability SYS_PTRACE") && !withoutTrace.contains("DAC_READ_SEARCH"))
    #expect(withoutTrace.contains("belongs to user 1000") && !withoutTrace.contains("as root"), "\(withoutTrace)")
  }

  @Test(arguments: [override, search]) func whereFilesOfOthersOpenItIsPtrace(capability: UInt64) {
    #expect(message(owner: "1000", user: "0", capabilities: Self.trace | capability).contains("ptrace is refused"))
  }

  @Test func anOwnProcessNeedsNoFilesOfOthers() {
    let own = message(owner: "1000", user: "1000", capabilities: Self.trace, scope: "3")
    #expect(own.contains("ptrace_scope is 3") && !own.contains("DAC_READ_SEARCH") && !own.contains("belongs to"))
    #expect(message(owner: "1000", user: "1001").contains("run undead as that user, or as root"))
    #expect(message(owner: "1000", user: "1000", scope: "1").contains("ptrace_scope is 1"))
  }

  @Test func rightsAreThoseOfThisProcess() {
    let own = Refusal(pid: getpid())
    #expect(own.owner == "\(geteuid())" && own.user == own.owner)
  }
}
