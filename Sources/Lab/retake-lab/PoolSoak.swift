import RetakeBench
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages

/// A live pipeline whose pool follows the load, at ten times the pace of a camera, for as long as
/// one likes: its memory must stay flat. The figures are of real time and differ from run to run.
struct PoolSoak: Sendable {
  private static let fps: Int64 = 300
  /// Memory is flat only after the first buffers, queues and threads exist.
  private static let warmUp: Int64 = 10_000_000_000
  private static let second: Int64 = 1_000_000_000
  /// The most samples that are kept: a day of seconds.
  private static let samplesMax = 86_400

  /// Pushed frames, and how they ended.
  private(set) var pushed = 0
  private(set) var delivered = 0
  private(set) var lost = 0
  private(set) var pools: [PoolCounts] = []
  /// Resident memory in bytes, once a second after the warm-up.
  private(set) var resident: [Int] = []

  /// - Parameters:
  ///   - time: How long frames are pushed, in real time.
  ///   - isInterrupted: Checked before each frame; the report is about the time until then.
  init(time: Duration, isInterrupted: () -> Bool) throws {
    let clock = WallClock()
    let condition = ThreadCondition()
    let format = LiveTrack(format: .gray, width: 320, height: 240)
    let session = try LiveSession(
      Self.pipeline, tracks: [format], catalog: StageRegistry.core, options: LiveOptions(),
      clock: clock, tap: nil
    ) { _ in }
    let pixels = [UInt8](repeating: 128, count: format.width * format.height)
    let start = clock.monotonicNanoseconds
    var nextSample = start + Self.warmUp
    // Ends: `pushed` rises, and so does the time of the next frame.
    while !isInterrupted() {
      let due = Int64(pushed) * Self.second / Self.fps
      guard due < time.nanoseconds else { break }
      clock.wait(untilNanoseconds: start + due, or: condition)
      session.push(
        Frame(
          id: FrameID(track: 0, sequence: pushed), format: .gray, width: format.width,
          height: format.height, planes: [pixels]))
      pushed += 1
      if clock.monotonicNanoseconds >= nextSample, resident.count < Self.samplesMax {
        nextSample += Self.second
        resident.append((try? ResidentMemory.bytes()) ?? 0)
      }
    }
    let outcome = try session.finish()
    (delivered, lost) = (outcome.headline.delivered, outcome.lostBeforeCapture)
    pools = outcome.pools
  }

  /// A camera that waits, and text recognition at ten times the pace: 2.5-5 ms in bursts of 2 s,
  /// then 0.3 ms for 1 s.
  private static var pipeline: Pipeline {
    let clock = WallClock()
    let condition = ThreadCondition()
    let ocr = AnyStage(
      signature: StageSignature(
        kind: "ocr", version: 1, role: .pure, input: .frame, output: .scalars),
      options: .object([:]),
      body: .pure { _, context in
        let sequence = Int64(context.frame.sequence)
        let isBusy = sequence / fps % 3 < 2
        let time = isBusy ? 2_500_000 + sequence * 7_919_111 % 2_500_000 : 300_000
        clock.wait(nanoseconds: time, or: condition)
        return .success(Scalars([]))
      })
    var camera = PipelineNode(id: "camera", stage: pushed)
    camera.pool = "frames"
    return Pipeline(
      name: "soak",
      nodes: [
        camera, PipelineNode(id: "ocr", stage: ocr),
        PipelineNode(id: "text", stage: PoolTrial.sink),
      ],
      edges: [
        PipelineEdge(from: "camera", to: "ocr", capacity: 64),
        PipelineEdge(from: "ocr", to: "text"),
      ],
      pools: [
        PipelinePool(
          id: "frames", capacity: 8, adaptive: PoolSizing(), wait: .milliseconds(5),
          driverFrames: 2)
      ])
  }

  private static var pushed: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: AnyStage.sessionKind, version: 1, role: .source, input: nil, output: .frame),
      options: .object(["track": .integer(0)]), body: .source(SessionSource(track: 0)))
  }

  /// The slope of fewer seconds than this is only noise.
  private static let slopeSamplesMin = 60

  /// Bytes an hour, by the least squares of all samples; `nil` with less than a minute of them.
  var slope: Double? {
    guard resident.count >= Self.slopeSamplesMin else { return nil }
    let count = Double(resident.count)
    let (x, y) = ((count - 1) / 2, resident.reduce(0.0) { $0 + Double($1) } / count)
    var (above, below) = (0.0, 0.0)
    for (second, bytes) in resident.enumerated() {
      above += (Double(second) - x) * (Double(bytes) - y)
      below += (Double(second) - x) * (Double(second) - x)
    }
    return above / below * 3_600
  }

  var result: PoolStudyResult {
    func megabytes(_ bytes: Int?) -> String {
      bytes.map { FixedPoint.padded($0 / 10_000, digits: 2) + " MB" } ?? "-"
    }
    func integer(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }
    let resizes = pools.first?.resizes ?? 0
    let bytesPerHour = slope.map { Int($0.rounded()) }
    let rows: [(what: String, text: String, key: String, json: JSONValue)] = [
      ("seconds", "\(seconds)", "seconds", integer(seconds)),
      ("frames pushed", "\(pushed)", "pushed", integer(pushed)),
      ("delivered", "\(delivered)", "delivered", integer(delivered)),
      ("lost", "\(lost)", "lost", integer(lost)),
      ("changes of size", "\(resizes)", "resizes", integer(resizes)),
      (
        "resident memory after 10 s", megabytes(resident.first), "firstBytes",
        integer(resident.first)
      ),
      ("at the end", megabytes(resident.last), "lastBytes", integer(resident.last)),
      ("most", megabytes(resident.max()), "mostBytes", integer(resident.max())),
      (
        "slope", bytesPerHour.map { "\($0 / 1_000) kB an hour" } ?? "- (needs 70 s)",
        "slopeBytesPerHour", integer(bytesPerHour)
      ),
    ]
    let table = TextTable(
      headings: ["", ""], rows: rows.map { [$0.what, $0.text] }, wordColumns: [0])
    return PoolStudyResult(
      text: table.lines.dropFirst().joined(separator: "\n"),
      json: .object(Dictionary(rows.map { ($0.key, $0.json) }) { first, _ in first }))
  }

  /// Of frames that were pushed.
  private var seconds: Int { pushed / Int(Self.fps) }
}
