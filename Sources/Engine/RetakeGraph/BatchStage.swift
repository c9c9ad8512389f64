import RetakeCore

/// A pure stage that computes the frames of a batch in one call, for example with a model. Its node
/// has a `batch`, such as `.batch(max: 8, wait: .milliseconds(5))`; without it, and live, `process`
/// computes one frame at a time.
///
/// ```swift
/// struct Depth: BatchStage {
///   static let kind = "depth"
///   let model: Model
///
///   func process(_ frame: Frame, _ context: StageContext) -> Scalars { model.run([frame])[0] }
///   func process(batch: [(input: Frame, context: StageContext)]) -> [Scalars] {
///     model.run(batch.map(\.input))
///   }
/// }
/// ```
///
/// `retake verify` compares the outputs with single calls.
public protocol BatchStage: PureStage {
  /// Computes the output for each frame, in order. The outputs equal those of single calls.
  ///
  /// - Throws: Any error; the frames are then computed one by one, so that an error has its frame.
  func process(batch: [(input: Input, context: StageContext)]) throws(Failure) -> [Output]
}

/// A stage that knows only after loading whether it computes batches.
package protocol LoadedBatchStage: BatchStage {
  /// Whether `process(batch:)` makes one call of several frames.
  var takesBatches: Bool { get }
}

extension BatchStage {
  /// `nil` if the frames of a batch are computed one by one.
  var batchBody: BatchBody? {
    // The samples of sensors are checked frame by frame.
    guard sensors.isEmpty, (self as? any LoadedBatchStage)?.takesBatches != false else {
      return nil
    }
    return { calls in
      var batch: [(input: Input, context: StageContext)] = []
      for call in calls {
        guard let typed = call.input as? Input else {
          return calls.map { _ in .failure(.wrongInput(Self.kind)) }
        }
        batch.append((typed, call.context))
      }
      guard batch.count > 1, let outputs = try? process(batch: batch) else {
        return batch.map(single)
      }
      guard outputs.count == batch.count else {
        return batch.map { _ in
          .failure(.wrongBatch(Self.kind, outputs: outputs.count, frames: batch.count))
        }
      }
      return outputs.map { .success($0) }
    }
  }

  private func single(_ call: (input: Input, context: StageContext)) -> StageOutcome {
    do throws(Failure) {
      return .success(try process(call.input, call.context))
    } catch {
      return .failure(StageError(wrapping: error))
    }
  }
}

extension StageError {
  fileprivate static func wrongBatch(_ kind: String, outputs: Int, frames: Int) -> StageError {
    StageError(
      code: "stage.batch",
      message: "\(kind) returned \(counted(outputs, "output")) for a batch of "
        + "\(counted(frames, "frame")): return one for each frame, in order",
      severity: .unrecoverable)
  }
}
