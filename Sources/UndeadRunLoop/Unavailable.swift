#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
// The names of this module that a file needs first, where the module is not there: the compiler prints why at each use.
// Platforms with a run loop of their own in Foundation need no other one.

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedRunLoop {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedTimer {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct MainRunLoop {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class RunLoopThread {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class WeakTimer {}
#endif
