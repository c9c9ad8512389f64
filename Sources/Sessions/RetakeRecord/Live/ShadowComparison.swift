import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Pairs the results of two pipelines, and passes the compared frames on in the order of capture.
final class ShadowComparison: Sendable {
  private struct Pair: Sendable {
    var arrival: Int64
    var isSettled = [false, false]
    var results: [LiveResult?] = [nil, nil]
    var disagreement: Double?
    var isDone = false

    var both: (LiveResult, LiveResult)? {
      guard let first = results[0], let second = results[1] else { return nil }
      return (first, second)
    }
  }

  private struct State: Sendable {
    var pairs: [Int: Pair] = [:]
    /// The frames of `pairs`, the oldest first.
    var order: [Int] = []
    /// Number of frames with both results that are not compared yet, because the memories of the
    /// pipelines still differ.
    var settling = 0
  }

  /// More frames than two pipelines hold at once; a pipeline that hangs does not fill the memory.
  private static let pairsMax = 4_096

  private let measure: ShadowPipeline.Measure
  private let primarySinks: [String?]
  /// Number of frames with both results that follow a frame of only one pipeline and are not
  /// compared.
  private let settlingFrames: Int
  private let add: @Sendable (ComparedFrame) -> Void
  private let state = Locked(State())

  init(
    of pipelines: [Pipeline], measure: @escaping ShadowPipeline.Measure,
    add: @escaping @Sendable (ComparedFrame) -> Void
  ) {
    (self.measure, self.add) = (measure, add)
    primarySinks = pipelines.map(\.primarySink)
    settlingFrames = pipelines.map(FrameMemory.frames).max() ?? 0
  }

  /// A frame is about to be pushed to both pipelines.
  func capture(_ sequence: Int, arrival: Int64) {
    state.withLock { state in
      state.pairs[sequence] = Pair(arrival: arrival)
      state.order.append(sequence)
      if state.order.count > Self.pairsMax { state.pairs[state.order[0]]?.isDone = true }
      pass(&state)
    }
  }

  /// A pipeline has finished a frame. Only the first call for a frame and a pipeline counts.
  ///
  /// - Parameters:
  ///   - pipeline: 0, or 1 for the shadow.
  ///   - result: `nil` for a frame that was lost before capture.
  func settle(_ pipeline: Int, _ sequence: Int, _ result: LiveResult?) {
    let pair = state.withLock { state -> Pair? in
      guard var pair = state.pairs[sequence], !pair.isSettled[pipeline] else { return nil }
      pair.isSettled[pipeline] = true
      pair.results[pipeline] = result
      state.pairs[sequence] = pair
      return pair.isSettled == [true, true] ? pair : nil
    }
    guard let pair else { return }
    // Outside the lock: the capturing thread needs it for each frame.
    let disagreement = pair.both.flatMap(measure)
    state.withLock { state in
      state.pairs[sequence]?.disagreement = disagreement
      state.pairs[sequence]?.isDone = true
      pass(&state)
    }
  }

  /// Receives the results and the losses of a pipeline.
  func watch(of pipeline: Int) -> RecordingWatch {
    RecordingWatch(
      captured: { _ in },
      found: { [self] in settle(pipeline, $0.frame.result.id.sequence, $0) },
      decided: { [self] lines in
        for line in lines where line.kind == .lost {
          if let frame = line.frame { settle(pipeline, frame.sequence, nil) }
        }
      })
  }

  /// Both pipelines have ended: the other frames are not compared.
  func finish() {
    state.withLock { state in
      for sequence in state.order { state.pairs[sequence]?.isDone = true }
      pass(&state)
    }
  }

  /// Inside the lock, so that the frames are in order.
  private func pass(_ state: inout State) {
    let count = state.order.prefix { state.pairs[$0]?.isDone ?? true }.count
    for sequence in state.order.prefix(count) {
      guard var pair = state.pairs.removeValue(forKey: sequence) else { continue }
      let hasValue = zip(pair.results, primarySinks).map(Self.hasValue)
      if hasValue == [true, true] {
        if state.settling > 0 {
          state.settling -= 1
          pair.disagreement = nil
        }
      } else if hasValue.contains(true) {
        state.settling = settlingFrames
      }
      add(
        ComparedFrame(
          sequence: sequence, arrivalNanoseconds: pair.arrival, disagreement: pair.disagreement,
          results: pair.results))
    }
    state.order.removeFirst(count)
  }

  /// Whether the frame came to the sink.
  private static func hasValue(_ result: LiveResult?, at sink: String?) -> Bool {
    result?.frame.result.outcomes.contains {
      guard $0.sink == sink, case .facts = $0.content else { return false }
      return true
    } ?? false
  }
}
