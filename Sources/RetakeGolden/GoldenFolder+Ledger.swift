import RetakeCompare
import RetakeCore

extension GoldenFolder {
  /// What became of the frames on their way to one sink, as the results tell, and how many were
  /// lost before their capture, as the decisions tell; `nil` where there is no such sink.
  ///
  /// - Throws: `GoldenError.fileMissing`, or what is wrong with a file.
  package func ledger(
    sink: String
  ) throws(GoldenError) -> (frames: FrameLedger, lostBeforeCapture: Int)? {
    var ledger = FrameLedger()
    for index in 0..<Self.chunkCount(frames: try manifest().summary.captured) {
      let chunk = try chunk(index)
      guard let place = chunk.header.sinks.firstIndex(of: sink) else { return nil }
      for block in chunk.blocks {
        ledger.captured += block.frameCount
        if block.holdsBoxesAlone {
          ledger.delivered += block.frameCount
        } else {
          for frame in try frames(of: block, chunk) { ledger.count(frame, at: place) }
        }
      }
    }
    var lost = 0
    try eachDecision { if $0.kind == "lost" { lost += 1 } }
    return (ledger, lost)
  }
}

extension GoldenFolder {
  /// Captured frames that failed before they came to the sink that has the most such frames.
  ///
  /// - Throws: `GoldenError.fileMissing`, or what is wrong with a file of results.
  package func failedFrames() throws(GoldenError) -> Int {
    var ledgers: [Int: FrameLedger] = [:]
    for index in 0..<Self.chunkCount(frames: try manifest().summary.captured) {
      let chunk = try chunk(index)
      for block in chunk.blocks where !block.holdsBoxesAlone {
        for outcome in try frames(of: block, chunk).flatMap(\.outcomes) {
          guard let fate = outcome.ended?.fate else { continue }
          ledgers[outcome.sink, default: FrameLedger()].count(fate)
        }
      }
    }
    return ledgers.values.map(\.failed).max() ?? 0
  }
}

extension FrameLedger {
  /// A frame that says nothing of the sink was delivered there, with no facts.
  fileprivate mutating func count(_ frame: ResultFrame, at sink: Int) {
    count(frame.outcomes.first { $0.sink == sink }?.ended?.fate ?? .delivered)
  }
}
