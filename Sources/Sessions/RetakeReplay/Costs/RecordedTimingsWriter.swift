package import RetakeCore
package import RetakeRuntime
package import RetakeTimePlane

/// Writes the cost of each body in a measuring run to the file of recorded timings. The file
/// appears under its name only when it is complete.
///
/// The time at which a body could have begun comes from the decision lines: the edge's `deliver`.
package final class RecordedTimingsWriter: RunObserver {
  private struct Waiting: Hashable {
    var node: String
    var item: Int
  }

  private let file: WholeFile
  private var spans = 0
  private var spansInBlock = 0
  private var linesInBlock = 0
  private var hasher = DigestHasher()
  /// When frames that wait now reached their edges. The entry of a frame is removed with the frame.
  private var ready: [FrameID: [Waiting: Int64]] = [:]

  package var wantsDecisions: Bool { true }

  /// - Parameter key: `session/case`, or the case alone.
  /// - Throws: `ReplayError.unwritable`.
  package convenience init(path: String, key: String) throws {
    self.init(try WholeFile(path: path, output: .timings), key: key)
  }

  package init(_ file: WholeFile, key: String) {
    self.file = file
    var buffer = TextBuffer(capacity: 128)
    buffer.append(TimingsFormat.header(key: key))
    write(buffer)
  }

  package func decided(_ line: DecisionLine) {
    guard let frame = line.frame else { return }
    let waiting = Waiting(node: line.node, item: line.item ?? -1)
    switch line.kind {
    case .deliver: ready[frame, default: [:]][waiting] = line.time
    // No body runs for it here, so no span would remove its entry.
    case .drop, .supersede: ready[frame]?[waiting] = nil
    default: break
    }
  }

  package func measured(_ span: CostSpan) {
    var span = span
    let waiting = Waiting(node: span.node, item: span.item)
    span.readyNanoseconds = ready[span.frame]?.removeValue(forKey: waiting) ?? span.startNanoseconds
    var buffer = TextBuffer(capacity: 256)
    TimingsFormat.append(span, to: &buffer)
    write(buffer)
    spans += 1
    spansInBlock += 1
    if spansInBlock == TimingsFormat.blockSpans { endBlock() }
  }

  package func finished(_ frame: FinishedFrame) throws {
    ready[frame.result.id] = nil
    // `decided` and `measured` cannot throw, so a full disk ends the run here.
    try file.check()
  }

  /// Writes the end of the timings and finishes the file under its final name.
  ///
  /// - Throws: `ReplayError.unwritable`.
  package func finish() throws {
    // The header counts as a line: timings without spans have a digest, too.
    if linesInBlock > 0 { endBlock() }
    file.append("E \(spans)\n".utf8)
    try file.finish()
  }

  /// Removes the unfinished file after a run that failed.
  package func discard() { file.discard() }

  package var loss: ReplayError? { file.loss }

  private func write(_ line: borrowing TextBuffer) {
    let bytes = line.bytes
    hasher.append(bytes)
    file.append(bytes)
    linesInBlock += 1
  }

  private func endBlock() {
    file.append("B \(spansInBlock) \(hasher.finish())\n".utf8)
    hasher = DigestHasher()
    spansInBlock = 0
    linesInBlock = 0
  }
}
