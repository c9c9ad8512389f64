package import RetakeCore

extension GoldenFolder {
  /// The fates of the frames at one sink, from the results, and the number of frames that its source
  /// lost before their capture, from the decisions; `nil` if the sink does not exist.
  ///
  /// - Parameter source: The source of the sink's frames; `nil` counts the losses of all sources.
  /// - Throws: `GoldenError.fileMissing`, or an error in a file.
  package func ledger(
    sink: String, source: String? = nil
  ) throws -> (frames: FrameLedger, lostBeforeCapture: Int)? {
    var ledger = FrameLedger()
    for index in 0..<Self.chunkCount(frames: try manifest().summary.captured) {
      let chunk = try chunk(index)
      guard let place = chunk.header.sinks.firstIndex(of: sink) else { return nil }
      for block in chunk.blocks {
        ledger.captured += block.frameCount
        // Without an X line every frame was delivered, so the block needs no parsing.
        if block.holdsBoxesAlone {
          ledger.delivered += block.frameCount
        } else {
          for frame in try frames(of: block, chunk) { ledger.count(frame, at: place) }
        }
      }
    }
    var lost = 0
    try eachDecision { line in
      if line.kind == .lost, line.node == source ?? line.node { lost += 1 }
    }
    return (ledger, lost)
  }
}

extension GoldenFolder {
  /// The number of captured frames that failed at a stage before they reached a sink, at the sink
  /// with the most such frames. Frames that the session calls damaged are not counted.
  ///
  /// - Throws: `GoldenError.fileMissing`, or an error in a results file.
  package func failedFrames() throws -> Int {
    var ledgers: [Int: FrameLedger] = [:]
    let manifest = try manifest()
    // A damaged frame fails at its source. Without such frames a source may still lack a buffer.
    let sources = manifest.summary.damaged == nil ? [] : Set(manifest.input.tracks.keys)
    for index in 0..<Self.chunkCount(frames: manifest.summary.captured) {
      let chunk = try chunk(index)
      // Frames fail in X lines only, which such a block does not have.
      for block in chunk.blocks where !block.holdsBoxesAlone {
        for outcome in try frames(of: block, chunk).flatMap(\.outcomes) {
          guard let ended = outcome.ended, !sources.contains(ended.node) else { continue }
          ledgers[outcome.sink, default: FrameLedger()].count(ended.fate)
        }
      }
    }
    return ledgers.values.map(\.failed).max() ?? 0
  }
}

extension FrameLedger {
  /// A frame without an outcome for the sink was delivered there, with no facts.
  fileprivate mutating func count(_ frame: ResultFrame, at sink: Int) {
    count(frame.outcomes.first { $0.sink == sink }?.ended?.fate ?? .delivered)
  }
}
