import Foundation

/// What never ends, in the forms that programs have.
let formsOfEndless: [(String, () -> Void)] = [
  (
    "struct",
    {
      Task {
        _ = try? await withCheckedThrowingContinuation { (c: CheckedContinuation<String, any Error>) in
          var queue = [PendingRequest(id: 1, deadline: .now, continuation: c)]
          _ = queue.popLast()
        }
      }
    }
  ),
  (
    "cache",
    {
      for n in 0..<5 {
        Task {
          _ = try? await withCheckedThrowingContinuation { c in
            lock.withLock { boundedCache.add(PendingRequest(id: n, deadline: .now, continuation: c)) }
          }
        }
      }
    }
  ),
  (
    "delegate",
    {
      Task {
        _ = await withCheckedContinuation { c in
          locator.delegate = LocatorBridge(c)
          locator.request()
        }
      }
    }
  ),
  (
    "promise",
    {
      let promise = Promise<Int>()
      for _ in 0..<3 { Task { _ = await promise.get() } }
    }
  ),
  (
    "service",
    {
      Task {
        let service = CallbackService()
        _ = try? await withCheckedThrowingContinuation { c in service.fetch { c.resume(with: $0) } }
      }
    }
  ),
  (
    "ring3",
    {
      let boxes = [Box<Task<Int, Never>>(), Box<Task<Int, Never>>(), Box<Task<Int, Never>>()]
      for n in 0..<3 {
        boxes[n].value = Task {
          while boxes[(n + 1) % 3].value == nil { await Task.yield() }
          return await boxes[(n + 1) % 3].value!.value
        }
      }
    }
  ),
  (
    "actors3",
    {
      let partners = (0..<3).map { _ in Partner() }
      for n in 0..<3 {
        Task {
          await partners[n].meet(partners[(n + 1) % 3])
          await partners[n].turn()
        }
      }
    }
  ),
  (
    "channel",
    {
      let channel = MultiChannel<String>()
      Task { for await s in channel { print(s) } }
    }
  ),
  (
    "existential",
    {
      let channel: any AsyncSequence<Int, Never> = AsyncStream<Int>.makeStream().stream
      Task { for await s in channel { print(s) } }
    }
  ),
  (
    "groups",
    {
      Task {
        await withTaskGroup(of: Int.self) { outer in
          for _ in 0..<2 {
            outer.addTask {
              await withTaskGroup(of: Int.self) { inner in
                for n in 0..<2 {
                  inner.addTask {
                    await lost()
                    return n
                  }
                }
                return await inner.reduce(0, +)
              }
            }
          }
          for await x in outer { print(x) }
        }
      }
    }
  ),
  (
    "handle-in-any",
    {
      erasedHandles.append(
        Task {
          let box = Box<CheckedContinuation<Void, Never>>()
          await withTaskCancellationHandler {
            await withCheckedContinuation { box.value = $0 }
          } onCancel: {
            box.value?.resume()
          }
        })
    }
  ),
  (
    "ignores-cancel",
    {
      let task = Task {
        await withTaskCancellationHandler {
          await lost()
        } onCancel: {
        }
      }
      settle()
      task.cancel()
    }
  ),
  (
    "failing-group",
    {
      Task {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await lost() }
          group.addTask { throw Failure() }
          try await group.next()
          try await group.waitForAll()
        }
      }
    }
  ),
  ("ticker", { Ticker().start() }),
  ("notes", { Ticker().observe(notes) }),
  (
    "manual",
    {
      let (stream, c) = AsyncStream.makeStream(of: Int.self)
      feed = c
      Ticker().manual(stream)
    }
  ),
  ("unfold", { Ticker().unfold() }),
  ("both", { Ticker().both(Ticker()) }),
  ("child-loops", { Ticker().timers() }),
  (
    "semaphore",
    {
      let semaphore = AsyncSemaphore(1)
      Task {
        await semaphore.wait()
        await semaphore.wait()
        await semaphore.signal()
      }
    }
  ),
  (
    "mutex",
    {
      let mutex = AsyncMutex()
      Task { await mutex.lock() }
      settle()
      for _ in 0..<3 {
        Task {
          await mutex.lock()
          await mutex.unlock()
        }
      }
    }
  ),
  (
    "reentrant-mutex",
    {
      let mutex = AsyncMutex()
      func outer() async {
        await mutex.lock()
        await inner()
        await mutex.unlock()
      }
      func inner() async {
        await mutex.lock()
        await mutex.unlock()
      }
      Task { await outer() }
    }
  ),
  (
    "detached-self",
    {
      let session = Box<CheckedContinuation<Void, Never>>()
      Task.detached { [session] in
        await withCheckedContinuation { session.value = $0 }
        print(session)
      }
    }
  ),
  (
    "leaked-session",
    {
      let s = LeakedSession()
      Task { await s.run() }
    }
  ),
  (
    "tasklocal",
    {
      Task {
        await Scope.$box.withValue(Box()) {
          await withCheckedContinuation { Scope.box?.value = $0 }
        }
      }
    }
  ),
  (
    "let-unawaited",
    {
      Task {
        async let x: Void = lost()
        try? await Task.sleep(for: .milliseconds(1))
        _ = 1
      }
    }
  ),
  (
    "executor",
    {
      let actor = OnExecutor(threadExecutor)
      Task { await actor.lose() }
    }
  ),
  (
    "manual-executor",
    {
      let actor = OnExecutor(ManualExecutor())
      Task { await actor.work() }
    }
  ),
  ("task-executor", { Task(executorPreference: queueExecutor) { await lost() } }),
  (
    "thread-done",
    {
      Task {
        await withCheckedContinuation { c in
          Thread.detachNewThread { if getpid() == 0 { c.resume() } }
        }
      }
    }
  ),
  (
    "subscription",
    {
      Task {
        let subject = Subject()
        Statics.subjects.append(subject)
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          _ = subject.subscribe { _ in c.resume() }
        }
      }
    }
  ),
  (
    "work-item",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let item = DispatchWorkItem { c.resume() }
          item.cancel()
        }
      }
    }
  ),
  (
    "cancelled-item",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let item = DispatchWorkItem { c.resume() }
          item.cancel()
          DispatchQueue.global().async(execute: item)
        }
      }
    }
  ),
  (
    "operation",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let operation = BlockOperation { print("x") }
          operation.completionBlock = { c.resume() }
        }
      }
    }
  ),
  (
    "timer-unscheduled",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          _ = Timer(timeInterval: 1, repeats: false) { _ in c.resume() }
        }
      }
    }
  ),
  (
    "on-termination",
    {
      Task {
        let stream = AsyncStream<Int> { c in c.onTermination = { _ in c.finish() } }
        for await x in stream { print(x) }
      }
    }
  ),
  (
    "unmanaged",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          _ = Unmanaged.passRetained(Box(c)).toOpaque()
        }
      }
    }
  ),
  (
    "raw",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let p = UnsafeMutablePointer<CheckedContinuation<Void, Never>>.allocate(capacity: 1)
          p.initialize(to: c)
        }
      }
    }
  ),
  (
    "merge",
    {
      Task {
        let (a, b) = (AsyncStream<Int>.makeStream(), AsyncStream<Int>.makeStream())
        feeds.append(a.continuation)
        await withTaskGroup(of: Void.self) { group in
          group.addTask { for await x in a.stream { print(x) } }
          group.addTask { [s = b.stream] in for await x in s { print(x) } }
          a.continuation.finish()
          await group.waitForAll()
        }
      }
    }
  ),
  (
    "self-await",
    {
      let box = Box<Task<Void, Never>>()
      box.value = Task {
        while box.value == nil { await Task.yield() }
        await box.value!.value
      }
    }
  ),
  (
    "weak-box",
    {
      Task {
        _ = await withCheckedContinuation { c in
          Statics.weakBoxes.append(WeakBox(LocatorBridge(c)))
        }
      }
    }
  ),
  (
    "file-handle",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let pipe = Pipe()
          pipe.fileHandleForReading.readabilityHandler = { _ in c.resume() }
        }
      }
    }
  ),
  (
    "group-dropped",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let group = DispatchGroup()
          group.enter()
          group.notify(queue: .global()) { c.resume() }
        }
      }
    }
  ),
  (
    "debouncer",
    {
      let task = Task { while true { do { try await Task.sleep(for: .seconds(1000)) } catch { await lost() } } }
      settle()
      task.cancel()
    }
  ),
  (
    "race",
    {
      Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { try? await Task.sleep(for: .milliseconds(5)) }
          group.addTask { await lost() }
          await group.next()
          group.cancelAll()
        }
      }
    }
  ),
  (
    "timeout",
    {
      Task {
        try await withThrowingTaskGroup(of: Int.self) { group in
          group.addTask { try await withCheckedThrowingContinuation { (_: CheckedContinuation<Int, any Error>) in } }
          group.addTask {
            try await Task.sleep(for: .milliseconds(5))
            throw Failure()
          }
          defer { group.cancelAll() }
          return try await group.next()!
        }
      }
    }
  ),
]

/// What looks like it, and ends.
let formsOfOrdinary: [(String, () -> Void)] = [
  ("promise", { for _ in 0..<3 { Task { _ = await livePromise.get() } } }),
  (
    "delegate",
    {
      Task {
        _ = await withCheckedContinuation { c in
          let bridge = LocatorBridge(c)
          bridges.append(bridge)
          locator.delegate = bridge
        }
      }
    }
  ),
  (
    "weak-box",
    {
      Task {
        _ = await withCheckedContinuation { c in
          let bridge = LocatorBridge(c)
          bridges.append(bridge)
          Statics.weakBoxes.append(WeakBox(bridge))
        }
      }
    }
  ),
  (
    "cache",
    {
      for n in 0..<2 {
        Task {
          _ = try? await withCheckedThrowingContinuation { c in
            lock.withLock { boundedCache.add(PendingRequest(id: n, deadline: .now, continuation: c)) }
          }
        }
      }
    }
  ),
  ("static-channel", { Task { for await s in Statics.channel { print(s) } } }),
  (
    "mutex-enum",
    { Task { _ = await withUnsafeContinuation { c in Statics.inbox.withLock { $0["a"] = .waiting(c) } } } }
  ),
  (
    "any",
    {
      Task {
        _ = await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          lock.withLock { Statics.any["a"] = c }
        }
      }
    }
  ),
  (
    "any-struct",
    {
      Task {
        _ = try? await withCheckedThrowingContinuation { c in
          lock.withLock { Statics.any["a"] = PendingRequest(id: 1, deadline: .now, continuation: c) }
        }
      }
    }
  ),
  (
    "subject",
    {
      Task {
        let subject = Subject()
        Statics.subjects.append(subject)
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Statics.objects.append(subject.subscribe { _ in c.resume() })
        }
      }
    }
  ),
  (
    "nested-closures",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let inner = { c.resume() }
          let outer = {
            inner()
            print("x")
          }
          Statics.nested = {
            outer()
            print("y")
          }
        }
      }
    }
  ),
  (
    "ring-buffer",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Statics.ring = .allocate(capacity: 64)
          Statics.ring.initialize(repeating: nil, count: 64)
          Statics.ring[40] = c
        }
      }
    }
  ),
  (
    "c-context",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let context = malloc(64)!
          context.storeBytes(
            of: Unmanaged.passRetained(Box(c)).toOpaque(), toByteOffset: 24, as: UnsafeMutableRawPointer.self)
          Statics.context = context
        }
      }
    }
  ),
  (
    "tree",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Statics.tree = .node(.leaf, c, .node(.leaf, c, .leaf))
        }
      }
    }
  ),
  (
    "pthread",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          var thread = pthread_t()
          pthread_create(
            &thread, nil,
            { raw in
              sleep(1000)
              Unmanaged<Box<CheckedContinuation<Void, Never>>>.fromOpaque(raw!).takeRetainedValue().value!.resume()
              return nil
            }, Unmanaged.passRetained(Box(c)).toOpaque())
        }
      }
    }
  ),
  (
    "thread-specific",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Thread.detachNewThread {
            Thread.current.threadDictionary["c"] = Box(c)
            sleep(1000)
          }
        }
      }
    }
  ),
  (
    "thread-local-var",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Thread.detachNewThread {
            var handlers: [Int32: () -> Void] = [:]
            handlers[7] = { c.resume() }
            var fds = [pollfd(fd: 0, events: 0, revents: 0)]
            while poll(&fds, 0, 1_000_000) >= 0 { for one in handlers.values { one() } }
          }
        }
      }
    }
  ),
  (
    "socket",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          var ends: [Int32] = [0, 0]
          socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
          let source = DispatchSource.makeReadSource(fileDescriptor: ends[0])
          source.setEventHandler {
            source.cancel()
            c.resume()
          }
          source.resume()
        }
      }
    }
  ),
  (
    "process",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let process = Process()
          process.executableURL = URL(fileURLWithPath: "/bin/sleep")
          process.arguments = ["20"]
          process.terminationHandler = { _ in c.resume() }
          try? process.run()
        }
      }
    }
  ),
  (
    "readability",
    {
      Task {
        let pipe = Pipe()
        Statics.objects.append(pipe)
        let stream = AsyncStream<Data> { c in
          pipe.fileHandleForReading.readabilityHandler = { c.yield($0.availableData) }
        }
        for await data in stream { print(data) }
      }
    }
  ),
  (
    "stdin",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let channel = DispatchIO(type: .stream, fileDescriptor: Pipe0.read, queue: .global()) { _ in }
          channel.setLimit(lowWater: 1)
          channel.read(offset: 0, length: 10, queue: .global()) { done, _, _ in if done { c.resume() } }
        }
      }
    }
  ),
  (
    "notification",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          _ = NotificationCenter.default.addObserver(forName: .init("x"), object: nil, queue: nil) { _ in c.resume() }
        }
      }
    }
  ),
  (
    "group-notify",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let group = DispatchGroup()
          group.enter()
          DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { group.leave() }
          group.notify(queue: .global()) { c.resume() }
        }
      }
    }
  ),
  (
    "operation",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let queue = OperationQueue()
          let operation = BlockOperation { sleep(1000) }
          operation.completionBlock = { c.resume() }
          queue.addOperation(operation)
        }
      }
    }
  ),
  (
    "suspended",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Statics.suspended.suspend()
          Statics.suspended.async { c.resume() }
        }
      }
    }
  ),
  (
    "run-loop",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Thread.detachNewThread {
            RunLoop.current.add(Timer(timeInterval: 1000, repeats: false) { _ in c.resume() }, forMode: .default)
            RunLoop.current.run()
          }
        }
      }
    }
  ),
  (
    "signal",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
          source.setEventHandler {
            source.cancel()
            c.resume()
          }
          source.resume()
        }
      }
    }
  ),
  ("executor", { Task { await onThread.work() } }),
  ("task-executor", { Task(executorPreference: queueExecutor) { await onThread.work() } }),
  ("semaphore", { for _ in 0..<3 { Task { await theSemaphore.wait() } } }),
  (
    "parent-frame",
    {
      Task {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        async let sum = stream.reduce(0, +)
        try? await Task.sleep(for: .seconds(1000))
        continuation.finish()
        print(await sum)
      }
    }
  ),
  (
    "sibling",
    {
      Task {
        await withTaskGroup(of: Void.self) { group in
          let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
          group.addTask { for await x in stream { print(x) } }
          group.addTask {
            try? await Task.sleep(for: .seconds(1000))
            continuation.finish()
          }
          await group.waitForAll()
        }
      }
    }
  ),
  (
    "tasklocal",
    {
      let box = Box<CheckedContinuation<Void, Never>>()
      Task {
        await Scope.$box.withValue(box) {
          try? await Task.sleep(for: .seconds(1000))
          Scope.box?.value?.resume()
        }
      }
      Task { await withCheckedContinuation { box.value = $0 } }
    }
  ),
  ("strong-self", { Ticker().strong() }),
  ("method", { Ticker().method() }),
  (
    "guarded",
    {
      let t = Ticker()
      Statics.objects.append(t)
      t.startGuarded()
    }
  ),
  (
    "both",
    {
      let t = Ticker()
      Statics.objects.append(t)
      Ticker().both(t)
    }
  ),
  (
    "notes",
    {
      let t = Ticker()
      Statics.objects.append(t)
      t.observe(notes)
    }
  ),
  (
    "owner-on-thread",
    {
      Thread.detachNewThread {
        let t = Ticker()
        t.start()
        sleep(1000)
        t.add(1)
      }
    }
  ),
  (
    "timer-owner",
    {
      let t = Ticker()
      t.start()
      let source = DispatchSource.makeTimerSource()
      source.setEventHandler { t.add(1) }
      source.schedule(deadline: .now() + 500, repeating: 500)
      source.resume()
      timers.append(source)
    }
  ),
  (
    "nscache",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          let d = NSMutableDictionary()
          d["x"] = Box(c)
          Statics.objects.append(d)
        }
      }
    }
  ),
  (
    "race",
    {
      Task {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { try? await Task.sleep(for: .seconds(1000)) }
          group.addTask { await withCheckedContinuation { add($0) } }
          await group.next()
          group.cancelAll()
        }
      }
    }
  ),
  ("main-actor", { Task { @MainActor in print("x") } }),
  (
    "lazy",
    {
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          Statics.objects.append(LazyHolder(c))
        }
      }
    }
  ),
  (
    "mutex",
    {
      Task {
        await heldMutex.lock()
        try? await Task.sleep(for: .seconds(1000))
        await heldMutex.unlock()
      }
      settle()
      for _ in 0..<3 {
        Task {
          await heldMutex.lock()
          await heldMutex.unlock()
        }
      }
    }
  ),
  (
    "local-mutex",
    {
      let mutex = AsyncMutex()
      Task {
        await mutex.lock()
        try? await Task.sleep(for: .seconds(1000))
        await mutex.unlock()
      }
      settle()
      for _ in 0..<3 {
        Task {
          await mutex.lock()
          await mutex.unlock()
        }
      }
    }
  ),
  (
    "detached-reader",
    {
      let fds = Pipe0.make()
      Task {
        await withCheckedContinuation { (c: CheckedContinuation<Void, Never>) in
          DispatchQueue.global().async {
            var b: UInt8 = 0
            _ = read(fds, &b, 1)
            c.resume()
          }
        }
      }
    }
  ),
]
