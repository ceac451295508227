/// What the tables of advice and of known leaks judge a leak by.
struct LeakFacts {
  var isCycle: Bool
  /// The cycle, or the path from the object that nothing refers to; of a very long one the start.
  var references: [Reference]
  /// Fields of the cycle that are `lazy`.
  var lazyFields: Set<String>
  var rootType: String
  var rootRole: NodeRole
  /// What kind of unreachable C block refers to the root, if one does.
  var foreignHolder: String?
  /// Roles of all nodes of the cycle, folded ones included.
  var roles: Set<NodeRole>
  /// Types of everything that leaked together.
  var types: Set<String>
  /// True if an object of a type of the program leaked.
  var holdsProgramObject: Bool
  /// True if the cycle is the one of a test case and its run.
  var isTestCase: Bool
  var allocation: Backtrace
  /// The dependency that all objects of the cycle belong to, or the type of the object that nothing refers to.
  var package: String?
  var suspended: Backtrace?
  /// What the closure of the cycle captures besides, and leads back as well.
  var alsoCaptured: [String] = []
  /// What holds a suspect; nil for a leak.
  var heldBy: LeakReport.Suspect.Kind?
  /// True if only a frame of the task holds it.
  var isOfFrame = false
  /// True if a continuation leads to the task.
  var isOfContinuation = false
  /// Handlers of a dispatch source that hold it.
  var handlers: [String] = []
  /// Where the deallocated owner of a task or timer has it.
  var handles: DeadOwnerHandles?
  /// From a root to an object that outlived its scope.
  var path: [PathStep] = []
  /// What to do about the cycle of an object that a thread holds as well.
  var cycleAdvice: String?
  /// Kind of the use of a deallocated object.
  var use: String?

  /// Type of the object that a reference of the cycle leads to.
  func target(of index: Int) -> String { references[(index + 1) % references.count].type }

  /// Steps of the path before the object, and the one whose field holds it.
  var holders: ArraySlice<PathStep> { path.dropLast() }
  var holder: PathStep? { holders.last }
  var root: PathStep.Root? { path.first?.root }
  /// Type of the object.
  var type: String { path.last?.type ?? rootType }

  func mentions(_ isKnown: (String) -> Bool) -> Bool { holders.contains { isKnown($0.type) } }

  var holdsTimer: Bool { types.contains(where: KnownTypes.isTimer) }
}

extension LeakFacts {
  /// What is known of a suspect, an object that outlived its scope, or a use of a deallocated one.
  init(
    heldBy kind: LeakReport.Suspect.Kind? = nil, holdsBack: [Reference] = [], suspended: Backtrace? = nil,
    type: String = ""
  ) {
    self.init(
      isCycle: false, references: holdsBack, lazyFields: [], rootType: type, rootRole: .program, roles: [], types: [],
      holdsProgramObject: true, isTestCase: false, allocation: Backtrace(), suspended: suspended, heldBy: kind)
  }
}
