/// What ``LoadedHeap`` was called; swift-collections has another `Heap`.
@available(*, deprecated, renamed: "LoadedHeap")
public typealias Heap = LoadedHeap
