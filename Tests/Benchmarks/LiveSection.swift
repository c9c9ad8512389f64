import RetakeBuffers
import RetakeGraph
import RetakeRuntime
import Synchronization

/// The cost of a stage besides its body in a live run, and the cost to the app of pushing a frame.
struct LiveSection {
  let scale: Scale

  private static let manyStages = 11
  /// The frames that the app keeps in flight, few enough that the session accepts all of them.
  private static let ahead = 32

  func run() throws -> SectionReport {
    let frames = scale.count(20_000, tiny: 50)
    let ahead = 2 * Self.ahead
    let contest = try Contest(
      rounds: scale.rounds,
      [
        { try Self.play(stages: Self.manyStages, frames: frames).text },
        { try Self.play(stages: 1, frames: frames).text },
        { try Self.play(stages: 1, frames: frames, pool: ahead).text },
      ])
    let leases = contest.bestSeconds[2] - contest.bestSeconds[1]
    let seconds = contest.bestSeconds[0] - contest.bestSeconds[1]
    let pushes = try Self.play(stages: 3, frames: frames).pushes.sorted()
    var report = SectionReport(
      name: "live",
      title: "A live hop: \(frames) frames through \(Self.manyStages) empty stages against 1, "
        + "2 workers; a lease of a pool, from taken to ended; the time of the app's push",
      hash: contest.hash)
    report.figures = [
      Figure(
        name: "live.hop", value: 1e6 * seconds / Double(frames * (Self.manyStages - 1)),
        unit: "µs"),
      Figure(
        name: "live.frame", value: 1e6 * contest.bestSeconds[1] / Double(frames),
        unit: "µs for a frame through one stage"),
      Figure(name: "live.lease", value: 1e6 * leases / Double(frames), unit: "µs"),
      Figure(
        name: "live.push.p50", value: 1e-3 * Double(pushes[pushes.count / 2]), unit: "µs"),
      Figure(
        name: "live.push.p99", value: 1e-3 * Double(pushes[pushes.count * 99 / 100]), unit: "µs"),
    ]
    return report
  }

  private struct Played {
    var delivered: Int
    var pushes: [Int64]
    var text: String { "\(delivered)" }
  }

  /// - Parameter pool: Buffers from which the source's frames are leased; `nil` means that they are
  ///   not counted.
  private static func play(stages: Int, frames: Int, pool: Int? = nil) throws -> Played {
    let returned = Returned(ahead: ahead)
    var chain = Pipeline.named("live").source(.pushedFrames)
    if let pool { chain = chain.pool("frames").pool("frames", capacity: pool) }
    for _ in 0..<stages { chain = chain.stage(Pass()).queue(capacity: ahead, policy: .block) }
    let session = try LiveSession(
      chain.queue(capacity: ahead, policy: .block).sink(returned.sink),
      tracks: [LiveTrack(format: .gray, width: 4, height: 2)], options: LiveOptions(workers: 2))
    let frame = Frame(format: .gray, width: 4, height: 2, planes: [[0, 1, 2, 3, 4, 5, 6, 7]])
    let clock = WallClock()
    var pushes: [Int64] = []
    pushes.reserveCapacity(frames)
    for _ in 0..<frames {
      returned.waitForRoom()
      let start = clock.monotonicNanoseconds
      session.push(frame)
      pushes.append(clock.monotonicNanoseconds - start)
    }
    let outcome = try session.finish()
    return Played(delivered: outcome.headline.delivered, pushes: pushes)
  }
}

/// Limits the number of frames in flight.
private final class Returned: Sendable {
  private let room: Mutex<Int>
  private let condition = ThreadCondition()

  init(ahead: Int) { room = Mutex(ahead) }

  var sink: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]),
      body: .sink { [self] _ in
        let wasEmpty = room.withLock { room -> Bool in
          room += 1
          return room == 1
        }
        if wasEmpty { condition.signal() }
      })
  }

  func waitForRoom() {
    while true {
      let isThere = room.withLock { room -> Bool in
        guard room > 0 else { return false }
        room -= 1
        return true
      }
      if isThere { return }
      condition.wait()
    }
  }
}

extension AnyStage {
  fileprivate static var pushedFrames: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: sessionKind, version: 1, role: .source, input: nil, output: .frame),
      options: .object(["track": .integer(0)]), body: .source(SessionSource(track: 0)))
  }
}
