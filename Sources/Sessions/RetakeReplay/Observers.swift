package import RetakeCore
package import RetakeRuntime
import RetakeTimePlane

/// Combines several observers into one and notifies them in turn.
final class ObserverGroup: RunObserver {
  private let members: [any RunObserver]
  let wantsDecisions: Bool
  let wantsDigests: Bool
  let isFollowed: Bool

  init(_ members: [any RunObserver]) {
    self.members = members
    wantsDecisions = members.contains { $0.wantsDecisions }
    wantsDigests = members.contains { $0.wantsDigests }
    isFollowed = members.contains { $0.isFollowed }
  }

  func began(nodes: [RunNode]) throws {
    for member in members { try member.began(nodes: nodes) }
  }

  func decided(_ line: DecisionLine) {
    for member in members where member.wantsDecisions { member.decided(line) }
  }

  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    for member in members { member.leased(buffers, of: pool, at: nanoseconds) }
  }

  func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64) {
    for member in members { member.stalled(requests, of: pool, at: nanoseconds) }
  }

  func warmed(to temperature: Temperature, at nanoseconds: Int64) {
    for member in members { member.warmed(to: temperature, at: nanoseconds) }
  }

  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    for member in members { member.resized(buffers, of: pool, at: nanoseconds) }
  }

  func failed(_ failure: StageFailure) {
    for member in members { member.failed(failure) }
  }

  func measured(_ span: CostSpan) {
    for member in members { member.measured(span) }
  }

  func finished(_ frame: FinishedFrame) throws {
    for member in members { try member.finished(frame) }
  }
}

/// Digests the rounded results of a run without keeping them.
final class ResultDigester: RunObserver {
  private var writer: ResultWriter

  init(header: ResultHeader, sinks: [ResultHeader.Sink]) {
    writer = ResultWriter(header: header, sinks: sinks)
  }

  func finished(_ frame: FinishedFrame) { writer.append(frame.result) }

  /// The digest of all results. `finished` must not be called afterwards.
  func finish() -> Digest128 {
    _ = writer.finish()
    return writer.digest
  }
}

/// Writes every decision line, unfolded, to a file. The file appears under its name only when it is
/// complete. A device or a pipe, such as /dev/stdout, is written to directly.
package final class UnfoldedDecisionWriter: RunObserver {
  private let file: WholeFile

  package var wantsDecisions: Bool { true }

  /// - Throws: `ReplayError.unwritable`.
  package convenience init(path: String) throws {
    self.init(try WholeFile(path: path, output: .decisions))
  }

  package init(_ file: WholeFile) {
    self.file = file
  }

  package func decided(_ line: DecisionLine) { file.append("\(line)\n".utf8) }

  package func finished(_ frame: FinishedFrame) throws { try file.check() }

  /// Finishes the file under its final name.
  ///
  /// - Throws: `ReplayError.unwritable`.
  package func finish() throws { try file.finish() }

  /// Removes the unfinished file after a run that failed.
  package func discard() { file.discard() }

  package var loss: ReplayError? { file.loss }
}
