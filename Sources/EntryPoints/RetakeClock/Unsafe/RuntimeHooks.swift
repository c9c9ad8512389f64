#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The entry points that the Swift runtime offers for replacing its executors: variables that it
/// reads at each enqueue, and functions that map a job to its task.
///
/// SAFETY: the types match the runtime's `ConcurrencyHooks.def` and `Concurrency.h`, which use the
/// calling convention of Swift's thin functions; a job is a pointer that the runtime keeps alive
/// until the job has run. The variables are words, written by the holder of the `ScopeLock` alone.
/// A thread that has read a variable just before it is reset calls our function once more; the
/// function then finds no scope and passes the job on.
struct RuntimeHooks: @unchecked Sendable {
  typealias Enqueue = @convention(thin) (UnownedJob) -> Void
  typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void
  typealias MainExecutor = @convention(thin) () -> UnownedSerialExecutor
  typealias MainExecutorHook = @convention(thin) (MainExecutor) -> UnownedSerialExecutor
  typealias CurrentTask = @convention(thin) () -> UInt
  typealias TaskNumber = @convention(thin) (UInt) -> UInt64

  /// Called for each job that is enqueued without a specific executor.
  private let enqueueGlobal: UnsafeMutablePointer<EnqueueHook?>
  /// Called when code hops to the main actor; `swift_task_enqueueMainExecutor_hook` is not.
  private let mainExecutor: UnsafeMutablePointer<MainExecutorHook?>
  private let currentTask: CurrentTask
  private let taskNumber: TaskNumber

  /// The hooks of this process, or the reason why its runtime has no such hooks.
  static let current = Result { () throws(VirtualTimeError) in
    try RuntimeHooks { dlsym(everything, $0) }
  }

  #if canImport(Darwin)
    private static var everything: UnsafeMutableRawPointer? {
      UnsafeMutableRawPointer(bitPattern: -2)
    }
  #else
    private static var everything: UnsafeMutableRawPointer? { nil }
  #endif

  /// - Throws: `VirtualTimeError.unsupportedRuntime` with the first symbol that is not found.
  init(find: (String) -> UnsafeMutableRawPointer?) throws(VirtualTimeError) {
    func found(_ symbol: String) throws(VirtualTimeError) -> UnsafeMutableRawPointer {
      guard let address = find(symbol) else { throw .unsupportedRuntime(symbol: symbol) }
      return address
    }
    enqueueGlobal = try found("swift_task_enqueueGlobal_hook")
      .assumingMemoryBound(to: EnqueueHook?.self)
    mainExecutor = try found("swift_task_getMainExecutor_hook")
      .assumingMemoryBound(to: MainExecutorHook?.self)
    currentTask = unsafeBitCast(try found("swift_task_getCurrent"), to: CurrentTask.self)
    taskNumber = unsafeBitCast(try found("swift_task_getJobTaskId"), to: TaskNumber.self)
  }

  /// The number of the job's task, or 0 if the job is not a task.
  func number(of job: UnownedJob) -> UInt64 { taskNumber(unsafeBitCast(job, to: UInt.self)) }

  /// The number of the task that runs on this thread.
  func currentNumber() -> UInt64? {
    let task = currentTask()
    return task == 0 ? nil : taskNumber(task)
  }

  // MARK: - Installing

  /// The hooks that were installed before; they receive jobs that do not belong to a scope.
  private nonisolated(unsafe) static var earlierEnqueue: EnqueueHook?
  private nonisolated(unsafe) static var earlierMain: MainExecutorHook?

  /// The caller holds the `ScopeLock`.
  func install() {
    Self.earlierEnqueue = enqueueGlobal.pointee
    Self.earlierMain = mainExecutor.pointee
    enqueueGlobal.pointee = { job, original in
      if let scope = Scope.open, scope.takes(job) { return }
      guard let earlier = RuntimeHooks.earlierEnqueue else { return original(job) }
      earlier(job, original)
    }
    mainExecutor.pointee = { original in
      if let scope = Scope.open, scope.isCurrent { return VirtualMainExecutor.reference }
      guard let earlier = RuntimeHooks.earlierMain else { return original() }
      return earlier(original)
    }
  }

  /// The address of the function that the runtime calls at each enqueue; 0 without a function.
  var installed: UInt { unsafeBitCast(enqueueGlobal.pointee, to: UInt.self) }

  /// The caller holds the `ScopeLock`.
  func uninstall() {
    enqueueGlobal.pointee = Self.earlierEnqueue
    mainExecutor.pointee = Self.earlierMain
  }
}
