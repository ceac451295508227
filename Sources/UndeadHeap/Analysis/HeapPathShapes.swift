import UndeadReport

/// Retain paths by their shape: the kind and name of the root, then type and field of each step. Steps from a type to itself,
/// as in a list or a tree, count as the last of them, and two fields that take turns once: paths of all lengths through
/// such a structure are of one shape.
package final class HeapPathShapes {
  /// The shape of each block's path.
  package let shapeOfBlock: UnsafeBufferPointer<UInt32>
  /// By shape: the shape of the path without its last step; of a root, itself.
  private var above: [UInt32] = []
  /// By shape: its last step.
  private var step: [UInt32] = []
  private var known: [UInt64: UInt32] = [:]
  private var stepOfPlace: [UInt32] = []
  /// By step: its type; each field is a step, and closures in one field are steps of their own.
  private var typeOfStep: [UInt32] = []

  private static let noStep = UInt32.max

  package init(_ heap: LoadedHeap) {
    let (graph, paths) = (heap.graph, heap.paths)
    let shapes = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: 0)
    shapeOfBlock = UnsafeBufferPointer(shapes)
    internSteps(heap)
    var rootShapes: [Int: UInt32] = [:]
    var rootNames: [String: UInt32] = [:]
    for number in 0..<graph.count {
      let block = Int(paths.order[number])
      let holder = Int(paths.holder[block])
      if paths.edge[block] == HeapPaths.none {
        if let shape = rootShapes[holder] {
          shapes[block] = shape
        } else {
          let shape = rootShape(heap, holder, &rootNames)
          rootShapes[holder] = shape
          shapes[block] = shape
        }
      } else {
        shapes[block] = extended(shapes[holder], by: stepOfPlace[Int(graph.places[Int(paths.edge[block])])])
      }
    }
  }

  deinit { shapeOfBlock.deallocate() }

  private func internSteps(_ heap: LoadedHeap) {
    var known: [String: UInt32] = [:]
    for place in heap.file.places {
      let group = heap.types.holder(of: place)
      let field = heap.field(of: place)
      let key = "\(group) \(field) \(place.function)"
      if let number = known[key] {
        stepOfPlace.append(number)
      } else {
        known[key] = UInt32(typeOfStep.count)
        stepOfPlace.append(UInt32(typeOfStep.count))
        typeOfStep.append(group)
      }
    }
  }

  /// Stacks and registers of all threads are alike.
  private func rootShape(_ heap: LoadedHeap, _ node: Int, _ names: inout [String: UInt32]) -> UInt32 {
    let root = heap.root(ofNode: node)
    let isOfThread = root.kind == "stack" || root.kind == "register"
    let key = isOfThread ? "stack" : "\(root.kind) \(root.name)"
    if let shape = names[key] { return shape }
    let shape = add(above: UInt32(above.count), Self.noStep)
    names[key] = shape
    return shape
  }

  private func add(above shape: UInt32, _ last: UInt32) -> UInt32 {
    above.append(shape)
    step.append(last)
    return UInt32(above.count - 1)
  }

  /// The shape with one more step; the same, or a shorter one, where one or two fields repeat.
  private func extended(_ shape: UInt32, by next: UInt32) -> UInt32 {
    let last = step[Int(shape)]
    if last == next { return shape }
    let before = above[Int(shape)]
    if last != Self.noStep, typeOfStep[Int(last)] == typeOfStep[Int(next)] { return extended(before, by: next) }
    if step[Int(before)] == next, step[Int(above[Int(before)])] == last, last != Self.noStep { return before }
    let key = UInt64(shape) << 32 | UInt64(next)
    if let found = known[key] { return found }
    let result = add(above: shape, next)
    known[key] = result
    return result
  }
}
