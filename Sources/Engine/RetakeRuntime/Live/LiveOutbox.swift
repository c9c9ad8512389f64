import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Synchronization

/// Passes deliveries to sinks and results to their readers, in order, on a separate thread. A slow
/// sink delays no decision until too many messages wait.
final class LiveOutbox: Sendable {
  enum Message: Sendable {
    case delivery(LiveDelivery)
    case settled(LiveFrame)
  }

  private struct State: Sendable {
    var messages: [Message] = []
    var isClosed = false
  }

  private let plan: GraphPlan
  private let deliveriesMax: Int
  private let finished: @Sendable (LiveResult) -> Void
  private let state = Mutex(State())
  private let arrived = ThreadCondition()
  private let relieved = ThreadCondition()
  private let over = ThreadCondition()

  init(
    plan: GraphPlan, deliveriesMax: Int, finished: @escaping @Sendable (LiveResult) -> Void
  ) {
    self.plan = plan
    self.deliveriesMax = deliveriesMax
    self.finished = finished
  }

  /// Called by the thread that decides. Waits while too many messages wait.
  func post(_ message: Message) {
    while true {
      let count = state.withLock { state -> Int? in
        guard state.messages.count < deliveriesMax else { return nil }
        state.messages.append(message)
        return state.messages.count
      }
      if let count {
        if count == 1 { arrived.signal() }
        return
      }
      relieved.wait()
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    arrived.signal()
  }

  func waitForEnd() { over.wait() }

  /// Passes messages on until the outbox is closed and empty.
  ///
  /// - Parameter released: Called when a sink has released a frame; `nil` if no one needs to know.
  func run(released: (@Sendable (Int, FrameID) -> Void)?) {
    while true {
      let (messages, isClosed) = state.withLock { state -> ([Message], Bool) in
        defer { state.messages = [] }
        return (state.messages, state.isClosed)
      }
      relieved.signal()
      if messages.isEmpty {
        guard !isClosed else { break }
        arrived.wait()
      }
      for message in messages { tell(message, released: released) }
    }
    over.signal()
  }

  private func tell(
    _ message: Message, released: (@Sendable (Int, FrameID) -> Void)?
  ) {
    switch message {
    case .settled(let frame):
      finished(frame.result(sinkIDs: plan.sinks.map { plan.nodes[$0].id }))
    case .delivery(let delivery):
      let stage = plan.nodes[delivery.sink].stage
      delivery.frame.note(
        delivery, discards: stage.signature.kind == AnyStage.discardKind)
      receive(delivery, stage, lease: lease(of: delivery, released: released))
    }
  }

  /// Ends at the latest when its last owner is gone: at once, unless the sink keeps it.
  private func lease(
    of delivery: LiveDelivery, released: (@Sendable (Int, FrameID) -> Void)?
  ) -> FrameLease? {
    guard case .value = delivery.content, let released else { return nil }
    let (sink, frame) = (delivery.sink, delivery.frame.entry.id)
    return FrameLease { released(sink, frame) }
  }

  private func receive(_ delivery: LiveDelivery, _ stage: AnyStage, lease: FrameLease?) {
    guard case .sink(let receive) = stage.body else { return }
    let content: SinkDelivery.Content
    switch delivery.content {
    case .value(let value?): content = .value(value)
    case .ended(let fate, let node): content = .ended(fate, node: node)
    case .value(nil): return
    }
    receive(
      SinkDelivery(
        frame: delivery.frame.entry.id, timestamp: delivery.frame.timestamp, content: content,
        lease: lease, failure: delivery.failure))
  }
}
