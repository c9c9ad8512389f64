/// Runs `body`, and every task that it starts, in virtual time: sleeps of the scope's clock cost no
/// real time, and everything happens in the same order in each run.
///
/// ```swift
/// try await withVirtualTime { time in
///   let preview = Preview(clock: time.clock)
///   await time.run(until: .seconds(3))
///   #expect(await preview.shown == 90)
/// }
/// ```
///
/// Jobs run one after another, in the order in which they were enqueued; priorities do not change
/// it. While the body awaits anything but `run`, time advances by itself. Scopes of a process run
/// one at a time; tasks outside of the scope, such as other tests, continue as usual.
///
/// - Throws: The error of the body; otherwise `VirtualTimeError` if the runtime has no hooks, if
///   sleeps or tasks are pending when the body returns, or if a limit is reached;
///   `CancellationError` if the caller is cancelled while it waits for its turn.
public func withVirtualTime<Value: Sendable>(
  limits: VirtualTimeLimits = VirtualTimeLimits(),
  _ body: @escaping @Sendable (VirtualTime) async throws -> Value
) async throws -> Value {
  let hooks = try RuntimeHooks.current.get()
  if let scope = Scope.open, scope.isCurrent { throw VirtualTimeError.nested }
  try await ScopeLock.shared.acquire()
  defer { ScopeLock.shared.release() }
  return try await Scope(hooks: hooks, limits: limits).run(body)
}

/// The time of a scope: its clock, and methods that let time pass.
public struct VirtualTime: Sendable {
  let scope: Scope

  /// The clock for the code under test.
  public var clock: VirtualClock { VirtualClock(scope: scope, name: nil) }

  /// The present instant.
  public var now: VirtualClock.Instant { scope.now }

  /// The sleeps that have not woken, by deadline, then by when they began.
  public var pendingSleeps: [PendingSleep] { scope.pendingSleeps }

  /// Lets time pass to `instant`, and returns when all that is due there has come to rest. An
  /// instant in the past is the present.
  public func run(until instant: VirtualClock.Instant) async {
    _ = await scope.run(until: instant)
  }

  /// Lets time pass for `duration`.
  public func run(for duration: Duration) async {
    _ = await scope.run(until: now.advanced(by: duration))
  }

  /// Lets time pass to the next instant at which a sleep or a frame is due, and returns that
  /// instant when all work that is due has come to rest; returns `nil` at once if no sleep or frame
  /// is pending.
  @discardableResult
  public func runToNextEvent() async -> VirtualClock.Instant? {
    await scope.run(until: nil)
  }

  /// A stream that yields each element at its instant, as a camera does its frames, and then ends.
  /// It also ends with the scope.
  ///
  /// Elements arrive whether or not a task awaits them; `buffering` determines which elements are
  /// kept until then. An element whose instant has passed arrives at once.
  ///
  /// - Parameters:
  ///   - elements: The elements of the stream, in this order.
  ///   - instants: One for each element, in order; anything else ends the process.
  ///   - buffering: Which elements are kept until they are awaited.
  public func frames<Element: Sendable>(
    _ elements: [Element], at instants: [VirtualClock.Instant],
    buffering: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Element> {
    precondition(
      elements.count == instants.count,
      "time.frames needs an instant for each element: \(elements.count) elements, "
        + "\(instants.count) instants")
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: buffering)
    play(
      at: instants,
      deliver: { index in
        if case .terminated = continuation.yield(elements[index]) { return false }
        return true
      }, finish: { continuation.finish() })
    return stream
  }

  /// Calls `deliver` at each instant until it returns false, and `finish` after the last instant or
  /// when the scope ends.
  ///
  /// - Parameters:
  ///   - instants: In order; a violation of the order ends the process.
  ///   - deliver: Returns whether the reader can receive further elements.
  package func play(
    at instants: [VirtualClock.Instant], deliver: @escaping @Sendable (_ index: Int) -> Bool,
    finish: @escaping @Sendable () -> Void
  ) {
    for (before, after) in zip(instants, instants.dropFirst()) where after < before {
      preconditionFailure("instants must be in order: \(after) comes after \(before)")
    }
    guard let first = instants.first else { return finish() }
    let camera = Camera(at: instants, deliver: deliver, finish: finish)
    scope.add(Timeline.Feed(deliver: { camera.deliver() }, end: finish), first: first)
  }
}
