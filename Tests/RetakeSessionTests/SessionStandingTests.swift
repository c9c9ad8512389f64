import RetakeSession
import Testing

@Suite struct SessionStandingTests {
  @Test(
    arguments: [
      (SessionStanding(damagedFrames: 0), SessionStatus.clean),
      (SessionStanding(damagedFrames: 1), .lossy),
      (SessionStanding(damagedFrames: 0, missingFrames: 1), .lossy),
      (SessionStanding(damagedFrames: 0, losses: ["cut short"]), .lossy),
      (SessionStanding(damagedFrames: 0, missingFrames: 3, wasCut: true), .recovered),
      (SessionStanding(damagedFrames: 1, wasCut: true), .lossy),
    ])
  func `the status follows from what is missing`(standing: SessionStanding, status: SessionStatus) {
    #expect(standing.status == status)
    #expect(standing.facts.first { $0.key == "status" }?.value == status.rawValue)
  }
}
