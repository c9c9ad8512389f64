import Foundation
import RetakeCore
import RetakeRuntime
import RetakeTimePlane

/// The load on a pool of camera buffers: frames at a rate, each with a cost drawn from a seed.
package struct PoolLoad: Sendable {
  /// A period of time. Its costs alternate from frame to frame.
  package struct Phase: Sendable {
    package var nanoseconds: Int64
    /// Drawn evenly from each range, in nanoseconds.
    package var costs: [ClosedRange<Int64>]
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
      seed: seed, node: Draw.hash(ofNode: PoolTrial.stage), sequence: sequence, item: -1,
      purpose: .cost)
    // The high half of the product spreads 64 bits evenly over the range, with integers alone.
    let span = UInt64(range.upperBound - range.lowerBound) + 1
    return range.lowerBound + Int64(bits.multipliedFullWidth(by: span).high)
  }
}

extension PoolLoad {
  /// The longest duration of a load.
  private static let nanosecondsMax: Int64 = 3_600_000_000_000

  /// The loads built into Retake, in the order in which they are reported.
  package static func standard() throws(SuiteError) -> [PoolLoad] {
    let documents: [(String, String)] = [
      ("ocr-one.json", EmbeddedResources.ocrOneJSON),
      ("ocr-two.json", EmbeddedResources.ocrTwoJSON),
      ("shift-scene.json", EmbeddedResources.shiftSceneJSON),
      ("shift-burst.json", EmbeddedResources.shiftBurstJSON),
      ("swing-frames.json", EmbeddedResources.swingFramesJSON),
      ("swing-seconds.json", EmbeddedResources.swingSecondsJSON),
      ("pressure.json", EmbeddedResources.pressureJSON),
    ]
    var loads: [PoolLoad] = []
    for (file, text) in documents {
      loads.append(try PoolLoad(reading: Data(text.utf8), file: file))
    }
    return loads
  }

  /// - Throws: `SuiteError.badLoad` with the JSON pointer of what is wrong.
  package init(reading data: Data, file: String) throws(SuiteError) {
    do throws(LoadProblem) {
      let json: JSONValue
      do throws(DecodingError) {
        json = try JSONValue(parsing: data)
      } catch {
        throw LoadProblem(error.shortText, at: error.pointer)
      }
      self = try Self(json)
    } catch {
      throw .badLoad(
        message: error.problem.message, advice: error.problem.advice,
        pointer: error.problem.pointer, file: file)
    }
  }

  private init(_ json: JSONValue) throws(LoadProblem) {
    let fields = try Fields(
      json, at: "",
      keys: [
        "v", "name", "family", "seed", "fps", "executors", "bufferBytes", "resizeTime", "repeat",
        "phases", "events",
      ])
    guard try fields.integer("v") == 1 else { throw LoadProblem("'v' must be 1", at: "/v") }
    name = try fields.required("name")
    family = try fields.required("family")
    seed = UInt64(try Self.count(fields, "seed", 0...Int.max))
    fps = try Self.count(fields, "fps", 1...1_000)
    executors = try Self.count(fields, "executors", 1...64)
    bufferBytes = try Self.count(fields, "bufferBytes", 1...1 << 32)
    resizeNanoseconds = try fields.duration("resizeTime").nanoseconds
    repeats = try Self.count(fields, "repeat", 1...100_000)
    phases = []
    for (index, json) in try fields.array("phases").enumerated() {
      phases.append(try Self.phase(json, at: "/phases/\(index)"))
    }
    guard !phases.isEmpty else { throw LoadProblem("there are no phases", at: "/phases") }
    for (index, json) in try fields.array("events").enumerated() {
      events.append(try Self.event(json, at: "/events/\(index)"))
    }
    // Divided and not multiplied: the product with `repeats` could overflow.
    guard phases.allSatisfy({ $0.nanoseconds <= Self.nanosecondsMax }),
      cycle <= Self.nanosecondsMax / Int64(repeats)
    else { throw LoadProblem("a load lasts an hour at most", at: "/phases") }
    guard frameCount > 0 else { throw LoadProblem("there is no frame", at: "/phases") }
  }

  private static func count(
    _ fields: Fields, _ key: String, _ range: ClosedRange<Int>
  ) throws(LoadProblem) -> Int {
    guard let value = try fields.integer(key) else {
      throw LoadProblem("'\(key)' is missing", at: "")
    }
    guard range.contains(value) else {
      throw LoadProblem(
        "'\(key)' is \(range.lowerBound) to \(range.upperBound)", at: "/\(key)")
    }
    return value
  }

  private static func phase(_ json: JSONValue, at pointer: String) throws(LoadProblem) -> Phase {
    let fields = try Fields(json, at: pointer, keys: ["for", "costs"])
    var phase = Phase(nanoseconds: try fields.duration("for").nanoseconds, costs: [])
    for (index, json) in try fields.array("costs").enumerated() {
      guard case .array(let bounds) = json, bounds.count == 2,
        case .string(let low) = bounds[0], case .string(let high) = bounds[1],
        let low = Duration(parsing: low), let high = Duration(parsing: high), low <= high,
        low >= .zero, high.nanoseconds <= nanosecondsMax
      else {
        throw LoadProblem(
          "a cost is two durations, the smaller first: [\"25ms\", \"50ms\"]",
          at: "\(pointer)/costs/\(index)")
      }
      phase.costs.append(low.nanoseconds...high.nanoseconds)
    }
    guard !phase.costs.isEmpty, phase.nanoseconds > 0 else {
      throw LoadProblem("a phase lasts some time and has a cost at least", at: pointer)
    }
    return phase
  }

  private static func event(
    _ json: JSONValue, at pointer: String
  ) throws(LoadProblem) -> (Int64, DeviceEvent) {
    let fields = try Fields(json, at: pointer, keys: ["at", "thermal", "memory"])
    let time = try fields.duration("at").nanoseconds
    if let state = try fields.string("thermal").flatMap({ ThermalState(rawValue: $0) }) {
      return (time, .thermal(state))
    }
    if let pressure = try fields.string("memory").flatMap({ MemoryPressure(rawValue: $0) }) {
      return (time, .memory(pressure))
    }
    throw LoadProblem("an event is thermal or memory, as in overrides", at: pointer)
  }

  private typealias Fields = DocumentFields<LoadProblem>
}

/// A problem in a load, before it becomes a `SuiteError`.
struct LoadProblem: DocumentFailure {
  var problem: DocumentProblem

  init(_ problem: DocumentProblem) { self.problem = problem }

  init(_ detail: String, at pointer: String) {
    self.init(DocumentProblem(reason: .wrongValue(detail, advice: nil), pointer: pointer))
  }
}
