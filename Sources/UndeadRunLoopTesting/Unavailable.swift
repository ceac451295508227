#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
// As the names of UndeadRunLoop where it is not there.

@available(*, unavailable, message: "UndeadRunLoopTesting needs Linux with glibc: put its uses in '#if canImport(Glibc)'")
public final class TestLoop {}

@available(*, unavailable, message: "UndeadRunLoopTesting needs Linux with glibc: put its uses in '#if canImport(Glibc)'")
public enum TestLoopError {}

@available(*, unavailable, message: "UndeadRunLoopTesting needs Linux with glibc: put its uses in '#if canImport(Glibc)'")
public func eventually(_ condition: () async throws -> Bool) async rethrows {}
#endif
