#if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
// The names of this module where it is not there: the compiler prints why at each use. Platforms with a run loop
// of their own in Foundation need no other one.

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public enum PreciseTimer {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public enum RunLoopDiagnostics {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public enum RunLoopError {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public enum TargetHolding {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class DispatchTimer {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class ManualFrameSource {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class RunLoopDriver {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class RunLoopThread {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TimedFrameSource {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedDisplayLink {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedRunLoop {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedRunLoopObserver {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedRunLoopSource {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TrackedTimer {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class VirtualClock {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class WeakTimer {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public class FrameSource {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public class RunLoopClock {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct LoopClock {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct MainRunLoop {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct RunLoopConfinement {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct RunLoopDiagnostic {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public struct RunLoopInspection {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class WeakProxy<Target: AnyObject> {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public final class TransparentWeakProxy<Target: AnyObject> {}

@available(*, unavailable, message: "UndeadRunLoop is for Linux with glibc: use it in '#if canImport(Glibc)'")
public protocol WeakProxying<Target>: AnyObject {
  associatedtype Target
}
#endif
