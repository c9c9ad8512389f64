import RetakeCore
import RetakeRuntime
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
