package import Foundation
package import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The load on a pool of camera buffers: frames at a rate, each with a cost drawn from a seed.
package struct PoolLoad: Sendable {
  /// A period of time. Its costs alternate from frame to frame.
  package struct Phase: Sendable {
    package var nanoseconds: Int64
    /// Drawn evenly from each range, in nanoseconds.
    package var costs: [ClosedRange<Int64>]

    package init(nanoseconds: Int64, costs: [ClosedRange<Int64>]) {
      (self.nanoseconds, self.costs) = (nanoseconds, costs)
    }
  }

  package var name: String
  /// Names loads of one kind: options tuned on some families are judged on another.
  package var family: String
  package var seed: UInt64
  package var fps: Int
  /// Servers that process frames.
  package var executors: Int
  package var bufferBytes: Int
  /// The declared time until a new buffer is ready.
  package var resizeNanoseconds: Int64
  package var phases: [Phase]
  /// How often the sequence of phases is run.
  package var repeats: Int
  package var events: [(nanoseconds: Int64, event: DeviceEvent)] = []
  /// How long a frame waits for a buffer; `nil` = it is lost at once.
  package var wait: Duration?
  /// Frames that the driver keeps while one waits.
  package var driverFrames = 0

  package init(
    name: String, family: String, seed: UInt64, fps: Int, executors: Int, bufferBytes: Int,
    resizeNanoseconds: Int64, phases: [Phase], repeats: Int
  ) {
    (self.name, self.family, self.seed) = (name, family, seed)
    (self.fps, self.executors, self.bufferBytes) = (fps, executors, bufferBytes)
    (self.resizeNanoseconds, self.phases, self.repeats) = (resizeNanoseconds, phases, repeats)
  }

  private static let nodeHash = Draw.hash(ofNode: PoolTrial.stage)

  package var nanoseconds: Int64 { Int64(repeats) * cycle }
  private var cycle: Int64 { phases.reduce(0) { $0 + $1.nanoseconds } }

  package var frameCount: Int { Int(nanoseconds / 1_000_000 * Int64(fps) / 1_000) }

  package func time(ofFrame sequence: Int) -> Int64 {
    BenchFrames.time(ofFrame: sequence, fps: fps)
  }

  /// The cost of a frame in nanoseconds: a pure function of the seed and the sequence.
  package func cost(ofFrame sequence: Int) -> Int64 {
    var rest = time(ofFrame: sequence) % cycle
    var phase = phases[0]
    for candidate in phases {
      phase = candidate
      if rest < candidate.nanoseconds { break }
      rest -= candidate.nanoseconds
    }
    let range = phase.costs[sequence % phase.costs.count]
    let bits = Draw.bits(
      seed: seed, node: Self.nodeHash, sequence: sequence, item: -1,
      purpose: .cost)
    // The high half of the product spreads 64 bits evenly over the range, with integers alone.
    let span = UInt64(range.upperBound - range.lowerBound) + 1
    return range.lowerBound + Int64(bits.multipliedFullWidth(by: span).high)
  }
}

extension PoolLoad {
  /// The longest duration of a load.
  fileprivate static let nanosecondsMax: Int64 = 3_600_000_000_000
  /// The largest document that is read, in bytes.
  private static let bytesMax = 1 << 20

  /// The loads built into Retake, in the order in which they are reported.
  package static func standard() throws -> [PoolLoad] {
    try loads([
      ("ocr-one.json", EmbeddedResources.ocrOneJSON),
      ("ocr-two.json", EmbeddedResources.ocrTwoJSON),
      ("shift-scene.json", EmbeddedResources.shiftSceneJSON),
      ("shift-burst.json", EmbeddedResources.shiftBurstJSON),
      ("swing-frames.json", EmbeddedResources.swingFramesJSON),
      ("swing-seconds.json", EmbeddedResources.swingSecondsJSON),
      ("pressure.json", EmbeddedResources.pressureJSON),
    ])
  }

  /// A scan of text for two minutes, by a camera that waits.
  package static func scan() throws -> PoolLoad {
    try PoolLoad(reading: Data(EmbeddedResources.ocrScanJSON.utf8), file: "ocr-scan.json")
  }

  /// Reads loads of files.
  ///
  /// - Throws: `BenchError`.
  package static func loads(reading paths: [String]) throws -> [PoolLoad] {
    var loads: [PoolLoad] = []
    for path in paths {
      let load = try PoolLoad(reading: contents(path), file: path)
      // The name of a load identifies its rows.
      guard !loads.contains(where: { $0.name == load.name }) else {
        throw BenchError.badLoad(
          message: "another load is called '\(load.name)', too",
          advice: "Choose a different name for each load", pointer: "/name", file: path)
      }
      loads.append(load)
    }
    return loads
  }

  private static func contents(_ path: String) throws -> Data {
    do {
      return try RegularFile.contents(path, links: .followed, bytesMax: .max)
    } catch let error as RegularFile.Refusal {
      switch error {
      case .missing:
        throw BenchError(
          "suite.bench.noLoad", "there is no such file", at: path,
          advice: "--load reads a load as JSON; docs/pools.md has an example")
      case .special: throw BenchError.unreadableLoad(path: path, cause: "it is not a regular file")
      default: throw BenchError.unreadableLoad(path: path, cause: error.causeText)
      }
    }
  }

  private static func loads(
    _ documents: [(file: String, text: String)]
  ) throws -> [PoolLoad] {
    var loads: [PoolLoad] = []
    for (file, text) in documents {
      loads.append(try PoolLoad(reading: Data(text.utf8), file: file))
    }
    return loads
  }

  /// - Throws: `BenchError.badLoad` with the JSON pointer of the invalid member.
  package init(reading data: Data, file: String) throws {
    do {
      try self.init(LoadDecoder(parsing: data, bytesMax: Self.bytesMax))
    } catch let error as DocumentProblem {
      throw BenchError.badLoad(
        message: error.message, advice: error.advice, pointer: error.pointer, file: file)
    }
  }

  private init(_ decoder: LoadDecoder) throws {
    let fields = try decoder.document([
      "name", "family", "seed", "fps", "executors", "bufferBytes", "resizeTime", "repeat", "phases",
      "events", "wait", "driverFrames",
    ])
    name = try Self.word(fields.required("name"))
    family = try Self.word(fields.required("family"))
    seed = UInt64(try fields.count("seed", 0...Int.max))
    fps = try fields.count("fps", 1...1_000)
    executors = try fields.count("executors", 1...64)
    bufferBytes = try fields.count("bufferBytes", 1...1 << 32)
    resizeNanoseconds = try fields.required("resizeTime").duration().nanoseconds
    repeats = try fields.count("repeat", 1...100_000)
    phases = try fields.elements("phases").map(Phase.init(_:))
    events = try fields.elements("events").map(Self.event)
    wait = try fields["wait"]?.duration()
    driverFrames = try fields["driverFrames"]?.integer() ?? 0
    if let problem = PipelinePool.waitProblem(wait, driverFrames: driverFrames) {
      throw DocumentProblem(
        .wrongValue(problem.detail, advice: problem.advice), at: "/\(problem.key)")
    }
    func wrongPhases(_ detail: String) -> DocumentProblem {
      DocumentProblem(.wrongValue(detail, advice: nil), at: "/phases")
    }
    guard !phases.isEmpty else { throw wrongPhases("there are no phases") }
    // Divided and not multiplied: the product with `repeats` could overflow.
    guard phases.allSatisfy({ $0.nanoseconds <= Self.nanosecondsMax }),
      cycle <= Self.nanosecondsMax / Int64(repeats)
    else { throw wrongPhases("a load lasts an hour at most") }
    guard frameCount > 0 else { throw wrongPhases("there is no frame") }
    for (index, event) in events.enumerated() where event.nanoseconds >= nanoseconds {
      throw DocumentProblem(
        .wrongValue(
          "the event is at \(Duration.nanoseconds(event.nanoseconds).unitText), and the load ends at "
            + Duration.nanoseconds(nanoseconds).unitText, advice: nil), at: "/events/\(index)/at")
    }
  }

  /// A string that fits in a row of a table.
  private static func word(_ decoder: LoadDecoder) throws -> String {
    let text = try decoder.string()
    guard text.contains(where: { !$0.isWhitespace }), !text.contains(where: \.isNewline) else {
      throw decoder.wrong("a name is one line with at least one character", advice: nil)
    }
    return text
  }

  private static func event(
    _ decoder: LoadDecoder
  ) throws -> (nanoseconds: Int64, event: DeviceEvent) {
    let fields = try decoder.object(["at", "thermal", "memory"])
    let time = try fields.required("at").duration().nanoseconds
    guard (fields["thermal"] == nil) != (fields["memory"] == nil), time >= 0 else {
      throw fields.wrong("an event has an 'at', and either 'thermal' or 'memory'")
    }
    if let word = try fields["thermal"]?.string(), let state = ThermalState(rawValue: word) {
      return (time, .thermal(state))
    }
    if let word = try fields["memory"]?.string(), let pressure = MemoryPressure(rawValue: word) {
      return (time, .memory(pressure))
    }
    throw fields.wrong("an event is thermal or memory, as in overrides")
  }
}

private typealias LoadDecoder = StrictDecoder<DocumentProblem>

extension LoadDecoder {
  fileprivate func count(
    _ key: String, _ range: ClosedRange<Int>
  ) throws -> Int {
    try required(key).integer(in: range, "'\(key)' is \(range.lowerBound) to \(range.upperBound)")
  }
}

extension PoolLoad.Phase {
  fileprivate init(_ decoder: LoadDecoder) throws {
    let fields = try decoder.object(["for", "costs"])
    nanoseconds = try fields.required("for").duration().nanoseconds
    costs = try fields.elements("costs").map { cost in
      guard case .array(let bounds) = cost.json, bounds.count == 2,
        case .string(let low) = bounds[0], case .string(let high) = bounds[1],
        let low = Duration(parsing: low), let high = Duration(parsing: high), low <= high,
        low >= .zero, high.nanoseconds <= PoolLoad.nanosecondsMax
      else {
        throw cost.wrong("a cost is two durations, the smaller first: [\"25ms\", \"50ms\"]")
      }
      return low.nanoseconds...high.nanoseconds
    }
    guard !costs.isEmpty, nanoseconds > 0 else {
      throw fields.wrong("a phase lasts some time and has a cost at least")
    }
  }
}
