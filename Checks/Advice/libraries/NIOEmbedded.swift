// PACKAGE swift-nio
/// Stands for NIO's event loop of tests.
public final class EmbeddedEventLoop {
  private var scheduledTasks: [() -> Void] = []
  public init() {}
  public func schedule(_ task: @escaping () -> Void) { scheduledTasks.append(task) }

  public func run() {
    let tasks = scheduledTasks
    scheduledTasks = []
    for task in tasks { task() }
  }
}
