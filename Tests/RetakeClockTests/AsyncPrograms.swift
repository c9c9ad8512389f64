import Synchronization

/// Lines that a program writes, in the order in which it writes them.
final class Trace: Sendable {
  private let stored = Mutex<[String]>([])
  private let stamp: @Sendable () -> String

  init(stamp: @escaping @Sendable () -> String = { "" }) { self.stamp = stamp }

  var lines: [String] { stored.withLock { $0 } }

  func add(_ line: String) {
    let stamp = stamp()
    stored.withLock { $0.append(stamp.isEmpty ? line : "\(line) @ \(stamp)") }
  }
}

/// Programs of the kind that apps have, on any clock. `unit` is a millisecond of virtual time;
/// their twins in real time use a shorter one.
enum AsyncProgram: String, CaseIterable, Sendable {
  case debounce, throttle, timeout, reentrancy, cancellations, stream

  func run<C: Clock & Sendable>(clock: C, unit: Duration, trace: Trace) async
  where C.Duration == Duration {
    let context = ProgramContext(clock: clock, unit: unit, trace: trace)
    switch self {
    case .debounce: await context.debounce()
    case .throttle: await context.throttle()
    case .timeout: await context.timeout()
    case .reentrancy: await context.reentrancy()
    case .cancellations: await context.cancellations()
    case .stream: await context.stream()
    }
  }

  /// Written by hand, from the text of the program.
  var expected: [String] {
    switch self {
    case .debounce: ["search ca @ 110ms", "search cat @ 250ms"]
    case .throttle: ["0 @ 0s", "3 @ 30ms", "6 @ 60ms", "9 @ 90ms"]
    case .timeout:
      [
        "70 answers @ 70ms", "100 answers @ 170ms", "130 stopped @ 270ms", "130 timed out @ 270ms",
      ]
    case .reentrancy:
      [
        "A asks for 60 of 100 @ 0s", "B asks for 60 of 100 @ 0s", "C asks for 30 of 100 @ 0s",
        "C has 30, 70 left @ 10ms", "B has 60, 10 left @ 20ms", "A finds only 10 @ 30ms",
      ]
    case .cancellations:
      [
        "0 woke @ 10ms", "1 woke @ 20ms", "storm @ 25ms", "3 cancelled @ 25ms",
        "6 cancelled @ 25ms",
        "9 cancelled @ 25ms", "2 woke @ 30ms", "4 woke @ 50ms", "5 woke @ 60ms", "7 woke @ 80ms",
        "8 woke @ 90ms", "late 25 cancelled @ 90ms",
      ]
    case .stream:
      // Frames arrive each 33 ms; the analysis of a frame lasts 50 ms; the newest frame waits.
      [
        "frame 0 @ 0s", "frame 1 @ 50ms", "frame 3 @ 100ms", "frame 4 @ 150ms", "frame 5 @ 200ms",
        "end @ 250ms",
      ]
    }
  }
}

private struct ProgramContext<C: Clock & Sendable>: Sendable where C.Duration == Duration {
  let clock: C
  let unit: Duration
  let trace: Trace

  func pause(_ units: Int) async throws { try await clock.sleep(for: unit * units) }

  /// Searches for the typed text when the user has typed no further text for 50.
  func debounce() async {
    let field = SearchField(context: self)
    for text in ["c", "ca", "car", "ca"] {
      await field.typed(text)
      try? await pause(20)
    }
    try? await pause(120)
    await field.typed("cat")
    try? await pause(60)
  }

  private actor SearchField {
    let context: ProgramContext
    var waiting: Task<Void, any Error>?

    init(context: ProgramContext) { self.context = context }

    func typed(_ text: String) {
      waiting?.cancel()
      waiting = Task {
        try await context.pause(50)
        context.trace.add("search \(text)")
      }
    }
  }

  /// Values come each 10; one passes each 30.
  func throttle() async {
    let gate = ThrottleGate(context: self)
    for value in 0..<12 {
      await gate.offer(value)
      try? await pause(10)
    }
    try? await pause(30)
  }

  private actor ThrottleGate {
    let context: ProgramContext
    var isClosed = false

    init(context: ProgramContext) { self.context = context }

    func offer(_ value: Int) {
      guard !isClosed else { return }
      isClosed = true
      context.trace.add("\(value)")
      Task {
        try? await context.pause(30)
        self.open()
      }
    }

    func open() { isClosed = false }
  }

  /// Requests of 70, 100 and 130, with 100 to answer. At 100 the answer was there first.
  func timeout() async {
    for units in [70, 100, 130] {
      let answer = await withTaskGroup(of: String.self) { race in
        race.addTask {
          do {
            try await pause(units)
            return "\(units) answers"
          } catch {
            trace.add("\(units) stopped")
            return ""
          }
        }
        race.addTask {
          try? await pause(100)
          return "\(units) timed out"
        }
        let first = await race.next() ?? ""
        race.cancelAll()
        // Ends: with the group's tasks.
        while await race.next() != nil {}
        return first
      }
      trace.add(answer)
    }
  }

  /// An actor that checks, waits and then acts: others come in between.
  func reentrancy() async {
    let account = Account(context: self)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await account.withdraw(60, for: "A", after: 30) }
      group.addTask { await account.withdraw(60, for: "B", after: 20) }
      group.addTask { await account.withdraw(30, for: "C", after: 10) }
    }
  }

  private actor Account {
    let context: ProgramContext
    var balance = 100

    init(context: ProgramContext) { self.context = context }

    func withdraw(_ amount: Int, for name: String, after units: Int) async {
      context.trace.add("\(name) asks for \(amount) of \(balance)")
      try? await context.pause(units)
      guard balance >= amount else {
        context.trace.add("\(name) finds only \(balance)")
        return
      }
      balance -= amount
      context.trace.add("\(name) has \(amount), \(balance) left")
    }
  }

  /// Ten sleepers, some of which are cancelled while they sleep, and one before it does.
  func cancellations() async {
    let sleepers = (0..<10).map { number in
      Task {
        do {
          try await pause(10 * (number + 1))
          trace.add("\(number) woke")
        } catch {
          trace.add("\(number) cancelled")
        }
      }
    }
    try? await pause(25)
    trace.add("storm")
    for number in [3, 6, 9] { sleepers[number].cancel() }
    for sleeper in sleepers { await sleeper.value }
    let late = Task {
      do {
        try await pause(25)
      } catch {
        trace.add("late 25 cancelled")
      }
    }
    late.cancel()
    await late.value
  }

  /// A camera each 33 that does not wait, and an analysis that lasts 50.
  func stream() async {
    let (frames, camera) = AsyncStream.makeStream(
      of: Int.self, bufferingPolicy: .bufferingNewest(1))
    let producer = Task {
      for frame in 0..<6 {
        camera.yield(frame)
        try? await pause(33)
      }
      camera.finish()
    }
    for await frame in frames {
      trace.add("frame \(frame)")
      try? await pause(50)
    }
    trace.add("end")
    await producer.value
  }
}
