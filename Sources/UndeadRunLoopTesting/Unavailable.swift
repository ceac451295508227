#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
// As the names of UndeadRunLoop where it is not there.

@available(*, unavailable, message: "UndeadRunLoopTesting is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TestLoop {}

@available(*, unavailable, message: "UndeadRunLoopTesting is for Linux with glibc: use it in '#if canImport(Glibc)'")
public func eventually(_ condition: () async throws -> Bool) async rethrows {}
#endif
