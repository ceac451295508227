// swift-format-ignore-file: AmbiguousTrailingClosureOverload
import CUndead

/// Calls that leave nothing on the stack above them: what their frames held lies below those of later calls.
package enum DeepCall {
  /// Makes the frames of earlier calls, below that of the caller, forget what they held.
  ///
  /// Before a check by who did not make those calls through this type: the frames of the check itself, of which not
  /// every word is written, would take over references to what leaked.
  package static func forgetEarlierCalls() {
    undead_clear_stack()
  }

  @inline(never)
  static func run(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      withUnsafePointer(to: body) { body in
        undead_call_deeper(
          { $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, UnsafeMutableRawPointer(mutating: body))
      }
    }
  }

  /// The same for an asynchronous body, whose frames lie in memory of the task.
  // Nothing else may be in this function: what the compiler allocates from the task must nest with the room.
  @inline(never)
  static nonisolated(nonsending) func run(_ body: () async -> Void) async {
    let room = undead_task_leave_room()
    await body()
    undead_task_take_room(room)
  }
}
