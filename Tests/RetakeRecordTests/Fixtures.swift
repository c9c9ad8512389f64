import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeTestFrames
import RetakeTestSupport
import Synchronization

@testable import RetakeRecord

/// A clock that does not advance until a test moves it.
final class ManualClock: LiveClock {
  private let state: Mutex<State>

  private struct State {
    var now: Int64
    var unixShift: Int64 = 0
    /// A wait moves the clock to its deadline.
    var jumps: Bool
    /// How far each clock reading advances it.
    var step: Int64
  }

  init(jumps: Bool = false, step: Int64 = 0) {
    state = Mutex(State(now: 1_000_000_000, jumps: jumps, step: step))
  }

  var monotonicNanoseconds: Int64 {
    state.withLock {
      $0.now += $0.step
      return $0.now
    }
  }

  func anchor() -> WallAnchor {
    state.withLock {
      WallAnchor(
        monotonicNanoseconds: $0.now, unixNanoseconds: $0.now + $0.unixShift,
        bootNanoseconds: $0.now, uncertaintyNanoseconds: 0)
    }
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    let isDone = state.withLock {
      if $0.jumps { $0.now = max($0.now, deadline) }
      return $0.jumps
    }
    if !isDone { condition.wait() }
  }
}

/// Moving squares on noise, in memory.
struct Scene: FrameReader {
  struct Shot {
    var width = 64
    var height = 48
    var format = PixelFormat.i420
    var pts: Int64
  }

  var shots: [Shot]
  var timeBase = TimeBase(1, 30)

  init(_ count: Int, format: PixelFormat = .i420, timeBase: TimeBase = TimeBase(1, 30)) {
    shots = (0..<count).map { Shot(format: format, pts: Int64($0)) }
    self.timeBase = timeBase
  }

  init(_ shots: [Shot], timeBase: TimeBase = TimeBase(1, 30)) {
    (self.shots, self.timeBase) = (shots, timeBase)
  }

  var tracks: [TrackDescription] {
    [
      TrackDescription(
        track: 0, timeBase: timeBase, format: shots[0].format, width: shots[0].width,
        height: shots[0].height, frameCount: shots.count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    sequences.clamped(to: 0..<shots.count).map {
      FrameEntry(
        id: FrameID(track: 0, sequence: $0), pts: shots[$0].pts,
        timestamp: Timestamp(pts: shots[$0].pts, timeBase: timeBase) ?? .zero)
    }
  }

  func chain(of id: FrameID) -> Int { id.sequence }

  func frame(_ id: FrameID) -> Frame {
    let shot = shots[id.sequence]
    return movingSquare(id, shot.format, shot.width, shot.height)
  }

  var source: ReaderSource {
    get throws { try ReaderSource(self, name: "scene") }
  }
}

/// The reports of a recorder's commits.
final class Reports: Sendable {
  private let lines = Mutex<[RecordingProgress]>([])

  var all: [RecordingProgress] { lines.withLock { $0 } }

  func add(_ line: RecordingProgress) { lines.withLock { $0.append(line) } }
}

extension RecorderOptions {
  /// Unpaced into a test's folder, for a small disk.
  static func test(_ folder: TemporaryFolder, preset: RecordingPreset = .mpeg4) -> RecorderOptions {
    var options = RecorderOptions(
      name: "yard", into: folder.url.path, preset: preset, pace: .unpaced)
    options.reserveBytes = 0
    return options
  }
}

/// Records a scene, unpaced, with a clock that does not advance.
func record(
  _ scene: Scene, options: RecorderOptions, machine: Recorder.Machine = .still(),
  report: @escaping @Sendable (RecordingProgress) -> Void = { _ in }
) throws -> RecordingResult {
  try Recorder(try scene.source, options: options, machine: machine, report: report).run()
}

extension Recorder.Machine {
  /// The clock does not advance: commits are triggered by the number of rows.
  static func still() -> Recorder.Machine { Recorder.Machine(clock: ManualClock()) }

  /// Each clock reading advances it by 20 ms: a commit after about a dozen rows.
  static func ticking() -> Recorder.Machine {
    Recorder.Machine(clock: ManualClock(jumps: true, step: 20_000_000))
  }
}

/// The digest in the commit lines, computed again from the readable entries.
func packetDigest(of reader: SessionReader, through last: Int) throws -> Digest128 {
  var hasher = DigestHasher()
  for entry in try reader.entries(of: 0, sequences: 0..<last + 1) {
    guard let digest = entry.packetDigest else { continue }
    hasher.append(entry.id.sequence)
    hasher.append(digest)
  }
  return hasher.finish()
}

/// The error's code, or `nil` if the body throws no error.
func code(_ body: () throws -> some Any) -> String? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? any CodedError)?.code ?? "\(error)"
  }
}

extension Reports {
  /// Codes of errors from several threads; `nil` for no error.
  final class Codes: Sendable {
    private let codes = Mutex<[String?]>([])
    var all: [String?] { codes.withLock { $0 } }
    func add(_ code: String?) { codes.withLock { $0.append(code) } }
  }
}

extension Data {
  func append(to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: self)
    try file.close()
  }
}
