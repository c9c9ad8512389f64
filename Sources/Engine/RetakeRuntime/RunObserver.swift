public import RetakeCore
public import RetakeTimePlane

extension [RunNode] {
  /// The source whose frames reach a node through its first input; `nil` for nodes that do not
  /// exist.
  package func source(of id: String) -> String? {
    var node = first { $0.id == id }
    // Bounded: a pipeline has no loops.
    while let found = node, let input = found.inputs.first {
      node = first { $0.id == input }
    }
    return node?.id
  }
}

/// Modelled servers that the nodes of one executor share.
package struct RunExecutor: Hashable, Sendable {
  /// The ID of a declared executor, or of the only node that it serves.
  package var id: String
  /// Bodies that may be in service at once in virtual time; 1 unless declared otherwise.
  package var servers: Int
}

/// Notified of everything that a run decides and computes. The decisions have the same order in
/// every run, and so do the frames. How the two sequences interleave depends on the machine.
///
/// A run calls `began` first. During the run, it calls `decided`, `failed`, `leased`, `resized` and
/// `measured` as things happen in virtual time, and `finished` for each captured frame, in the
/// order of capture. Only `finished` must be implemented.
///
/// ```swift
/// final class DropLog: RunObserver {
///   private(set) var drops: [FrameID] = []
///
///   var wantsDecisions: Bool { true }
///
///   func decided(_ line: DecisionLine) {
///     if line.kind == .drop, let frame = line.frame { drops.append(frame) }
///   }
///
///   func finished(_ frame: FinishedFrame) {}
/// }
/// ```
///
/// After `began`, all calls come from one thread, the thread of the run. They delay the run, so a
/// slow observer slows it down. An error of `began` or `finished` ends the run, which throws it.
public protocol RunObserver: AnyObject {
  /// Whether `decided` is called; `false` by default. Read when the run begins.
  var wantsDecisions: Bool { get }
  /// Whether frames carry the digest of each stage's output, which costs time; `false` by default.
  var wantsDigests: Bool { get }
  /// Whether `finished` is called as soon as a frame's results are known, even if the bodies of
  /// later frames are still being computed; needs one more thread. `false` by default.
  var isFollowed: Bool { get }
  /// Called once, before the first decision, on the thread that started the run.
  ///
  /// - Parameter nodes: The nodes in topological order, with inserted conversions.
  func began(nodes: [RunNode]) throws
  /// A decision was made, such as a drop or the start of a body. Called for every decision line, in
  /// their order, if `wantsDecisions` is `true`. docs/decisions.md lists the kinds.
  func decided(_ line: DecisionLine)
  /// Frames use another number of a pool's buffers than before. Called after the decisions of the
  /// event that changed the number; never in `every-frame`, where pools are unbounded.
  ///
  /// - Parameters:
  ///   - buffers: How many buffers are in use from now on.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A pool that adapts to the load had no buffer for another request.
  ///
  /// - Parameters:
  ///   - requests: How many requests found no buffer since the run began; a wait counts once.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64)
  /// A pool has another number of buffers than before, because it adapts to the load. Each pool is
  /// reported for the first time at the first event; never in `every-frame`.
  ///
  /// - Parameters:
  ///   - buffers: How many buffers the pool has from now on, in use or free.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A tick of the device profile's heat model has ended; never without a heat model.
  ///
  /// - Parameter nanoseconds: Virtual time from the replay's origin.
  func warmed(to temperature: Temperature, at nanoseconds: Int64)
  /// A stage or a source failed on a frame, or on an item of it. Called at its place in the
  /// sequence of decisions. If `failure.isRecoverable` is `false`, the run halts here.
  func failed(_ failure: StageFailure)
  /// A body was measured, in a run that measures costs instead of modelling them; no other run
  /// calls this. The span's `ready` equals its start, in virtual time, and its length is the
  /// processor time that the body took.
  func measured(_ span: CostSpan)
  /// A captured frame has its outcome at every sink. Called once for each captured frame, in the
  /// order of capture, and after a halt also for frames that were left in flight. Frames that were
  /// lost before capture are not reported.
  func finished(_ frame: FinishedFrame) throws
}

extension RunObserver {
  /// `false`: `decided` is not called.
  public var wantsDecisions: Bool { false }
  /// `false`: frames have no digests.
  public var wantsDigests: Bool { false }
  /// `false`: `finished` may be called after bodies of later frames.
  public var isFollowed: Bool { false }
  /// Ignores the nodes.
  public func began(nodes: [RunNode]) throws {}
  /// Ignores the decision.
  public func decided(_ line: DecisionLine) {}
  /// Ignores the number of leased buffers.
  public func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  /// Ignores the number of requests.
  public func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64) {}
  /// Ignores the size of the pool.
  public func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  /// Ignores the temperature.
  public func warmed(to temperature: Temperature, at nanoseconds: Int64) {}
  /// Ignores the failure; a failure that halts the run is also in the run's outcome.
  public func failed(_ failure: StageFailure) {}
  /// Ignores the measured body.
  public func measured(_ span: CostSpan) {}
}
