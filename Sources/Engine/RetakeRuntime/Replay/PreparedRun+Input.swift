import RetakeBuffers
package import RetakeCore
package import RetakeGraph

extension PreparedRun {
  /// The input of a stage for a frame, from an every-frame run that ends when the input is known.
  ///
  /// The stage itself is not computed; the nodes upstream of it are, from the first frame on.
  ///
  /// - Parameters:
  ///   - node: A pure stage whose body can throw; inside a forEach `x/NODE`.
  ///   - item: Which item of the frame, inside a forEach.
  ///   - isInterrupted: As `RunOptions.isInterrupted`.
  /// - Returns: `nil` if the frame, or the item, does not reach the stage.
  /// - Throws: As `run(_:observer:)`.
  package func input(
    of node: String, for frame: FrameID, item: Int = 0,
    isInterrupted: (@Sendable () -> Bool)? = nil
  ) throws -> (any PipelineValue)? {
    guard let index = plan.nodes.firstIndex(where: { $0.id == node }) else { return nil }
    let input = Locked<(any PipelineValue)?>(nil)
    let isPast = Locked(false)
    var run = self
    run.plan.nodes[index].stage = plan.nodes[index].stage.replacingBody(
      .pure { value, context in
        if context.frame == frame, (context.item ?? item) == item {
          input.withLock { $0 = value }
        }
        return .failure(StageError(code: "stage.notComputed", message: "its input is wanted"))
      })
    var options = RunOptions(workers: 1, runAhead: false)
    options.isInterrupted = {
      input.withLock { $0 != nil } || isPast.withLock { $0 } || isInterrupted?() == true
    }
    do {
      _ = try run.run(options, observer: FrameEnd(frame, isPast))
    } catch RuntimeError.interrupted where isInterrupted?() != true {
      // The input is known, or the frame has ended without it.
    }
    return input.withLock { $0 }
  }
}

/// Notices that a frame has ended everywhere.
private final class FrameEnd: RunObserver {
  private let frame: FrameID
  private let isPast: Locked<Bool>

  init(_ frame: FrameID, _ isPast: Locked<Bool>) {
    (self.frame, self.isPast) = (frame, isPast)
  }

  func finished(_ frame: FinishedFrame) {
    if frame.entry.id == self.frame { isPast.withLock { $0 = true } }
  }
}
