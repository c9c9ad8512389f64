import CRetake
import Retake

/// Calls a caller's function with results.
final class ResultReporter: @unchecked Sendable {
  // SAFETY: @unchecked because of the caller's context, which is only passed on, and because of
  // `names`: the engine passes results on one at a time. All pointers in a result point into values
  // that exist until the caller's function has returned.
  private let receive: retake_on_result
  private let context: UnsafeMutableRawPointer?
  /// The primary sink.
  private let sink: String?
  /// Of the primary sink.
  private let precision: Precision
  private var names = ClassNames([])

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(
    _ receive: @escaping retake_on_result, context: UnsafeMutableRawPointer?, pipeline: Pipeline
  ) throws {
    self.receive = receive
    self.context = context
    sink = pipeline.primarySink
    let steps = pipeline.nodes.first { $0.id == pipeline.primarySink }?.precision ?? [:]
    precision = try Precision(box: steps["box"], score: steps["score"], scalar: steps["scalar"])
  }

  /// - Parameters:
  ///   - classNames: By outcome.
  ///   - line: The frame's JSON, with its line end.
  func tell(_ result: FrameResult, classNames: [[String]], line: String) {
    let place = result.outcomes.firstIndex { $0.sink == sink } ?? result.outcomes.indices.first
    let outcome = place.map { result.outcomes[$0].content } ?? .ended(.inFlight, node: "")
    let words = place.map { classNames[$0] } ?? []
    if words != names.words { names = ClassNames(words) }
    let detections = detections(of: outcome)
    var view = retake_result()
    view.size = MemoryLayout<retake_result>.size
    view.track = Int32(clamping: result.id.track)
    view.fate = outcome.fate
    view.sequence = Int64(result.id.sequence)
    view.pts = result.pts ?? 0
    view.detection_count = detections.count
    let text = line.dropLast()
    view.json_length = text.utf8.count
    let observations = observations(of: outcome)
    view.observations_length = observations.utf8.count
    detections.withUnsafeBufferPointer { detections in
      String(text).withCString { json in
        observations.withCString { observations in
          view.detections = detections.baseAddress
          (view.json, view.observations) = (json, observations)
          withUnsafePointer(to: view) { view in
            ThreadState.calling(.result) { receive(view, context) }
          }
        }
      }
    }
  }

  /// One line for each observation, with its line end.
  private func observations(of outcome: SinkOutcome.Content) -> String {
    guard case .facts(let facts) = outcome else { return "" }
    return facts.reduce(into: "") { text, fact in
      guard case .observation(let found) = fact else { return }
      text += ResultLine.observation(ObservationLine(found, precision)).text + "\n"
    }
  }

  private func detections(of outcome: SinkOutcome.Content) -> [retake_detection] {
    guard case .facts(let facts) = outcome else { return [] }
    return facts.compactMap { fact in
      guard case .detection(let found) = fact else { return nil }
      return retake_detection(
        x: found.box.x, y: found.box.y, width: found.box.width, height: found.box.height,
        score: found.score, class_index: Int64(found.classIndex),
        identity: Int64(found.identity ?? 0), has_identity: found.identity == nil ? 0 : 1,
        class_name: names[found.classIndex])
    }
  }
}

/// The names of classes as strings of C. They are the same in nearly every frame.
private final class ClassNames {
  // SAFETY: the strings are in one block, which is written here and freed with the object.
  let words: [String]
  private let block: UnsafeMutablePointer<CChar>
  private var offsets: [Int] = []

  init(_ words: [String]) {
    self.words = words
    let strings = words.map { Array($0.utf8CString) }
    block = .allocate(capacity: max(1, strings.reduce(0) { $0 + $1.count }))
    var offset = 0
    for string in strings {
      (block + offset).initialize(from: string, count: string.count)
      offsets.append(offset)
      offset += string.count
    }
  }

  deinit { block.deallocate() }

  subscript(index: Int) -> UnsafePointer<CChar>? {
    offsets.indices.contains(index) ? UnsafePointer(block + offsets[index]) : nil
  }
}

extension SinkOutcome.Content {
  fileprivate var fate: retake_fate {
    guard case .ended(let fate, _) = self else { return RETAKE_DELIVERED }
    return switch fate {
    case .delivered: RETAKE_DELIVERED
    case .dropped: RETAKE_DROPPED
    case .throttled: RETAKE_THROTTLED
    case .replaced: RETAKE_REPLACED
    case .failed: RETAKE_FAILED
    case .inFlight: RETAKE_IN_FLIGHT
    }
  }
}
