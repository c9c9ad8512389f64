import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakePreview
import RetakeRuntime

let seconds = Double(CommandLine.arguments[1]) ?? 60
let feed = PreviewFeed()

func node(_ kind: String, _ role: StageRole, _ body: AnyStage.Body) -> AnyStage {
  AnyStage(
    signature: StageSignature(
      kind: kind, version: 1, role: role, input: role == .source ? nil : .frame,
      output: role == .sink ? nil : .frame),
    options: .object(["track": .integer(0)]), body: body)
}

let frames = Pipeline.named("race")
  .source(node(AnyStage.sessionKind, .source, .source(SessionSource(track: 0))))
  .pool("frames").pool("frames", capacity: 6, policy: .drop, adaptive: PoolSizing())
let seen = frames.map("look") { frame, _ in frame }.concurrency(3).queue(
  capacity: 2, policy: .dropOldest
)
.sink(
  node(
    "screen", .sink,
    .sink { delivery in
      guard case .value(let value) = delivery.content, let frame = value as? Frame else { return }
      feed.offer(frame)
      feed.show(PreviewResult(id: frame.id, timestamp: frame.timestamp, outcomes: []))
    }), id: "screen")
let counted = frames.map("count") { frame, _ in frame }.queue(capacity: 1, policy: .replace)
  .sink(node("counted", .sink, .sink { _ in }), id: "counted")
let session = try LiveSession(
  Pipeline.combining(seen, counted), tracks: [LiveTrack(format: .gray, width: 8, height: 8)])

let drawn = DispatchSemaphore(value: 0)
Thread.detachNewThread {
  while !feed.isClosed {
    feed.arrived.wait()
    while let picture = feed.take() { feed.presented(picture) }
  }
  drawn.signal()
}
let results = Task {
  var count = 0; for await _ in session.results { count += 1 }; return count
}

let end = Date().addingTimeInterval(seconds)
let pushed = DispatchSemaphore(value: 0)
let states: [ThermalState] = [.nominal, .serious]
for thread in 0..<8 {
  Thread.detachNewThread {
    var round = 0
    while Date() < end {
      round += 1
      session.push(
        Frame(
          timestamp: Timestamp(nanoseconds: Int64(round) * 1_000_000), format: .gray, width: 8,
          height: 8, planes: [[UInt8](repeating: UInt8(thread), count: 64)]))
      if round % 97 == thread { session.push(.thermal(states[round % 2])) }
      if round % 31 == thread { feed.note(.thermal(states[round % 2])) }
      if round % 64 == 0 { _ = feed.figures }
      if round % 16 == 0 { usleep(200) }
    }
    pushed.signal()
  }
}
for _ in 0..<8 { pushed.wait() }
let outcome = try await session.stop()
feed.close()
drawn.wait()
let figures = feed.figures
print(
  "\(outcome.headline.captured) captured, \(outcome.lostBeforeCapture) lost before, "
    + "\(outcome.decisions) decisions, \(await results.value) results; "
    + "\(figures.offered) offered, \(figures.shown) shown")
guard outcome.ledgers.allSatisfy({ $0.ledger.isBalanced }), outcome.headline.captured > 0,
  figures.shown > 0,
  figures.offered == figures.shown + figures.dropped + figures.throttled + figures.waiting
else { exit(1) }
print("the books balance")
