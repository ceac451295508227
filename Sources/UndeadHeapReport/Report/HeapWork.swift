import UndeadHeap
import UndeadReport

/// What a heap's page shows beside its objects.
package struct HeapWork {
  /// The worst first.
  package let tasks: [TaskReport.Group]
  /// Open files, ascending by number; empty if the file does not say which there were.
  package let descriptors: [HeapReport.DescriptorRow]

  package init(_ heap: LoadedHeap, _ symbols: HeapSymbols) {
    tasks = TaskReport(heap, tool: LeakReport.Tool(), symbols: symbols).groups
    descriptors = HeapResources(heap, symbols)?.descriptors() ?? []
  }
}
