import RetakeReplay
import Testing

@Suite struct CostChoiceTests {
  @Test(
    arguments: [
      ("declared", CostChoice.Source.declared, nil), ("timings", .session(run: nil), nil),
      ("timings@3", .session(run: 3), nil), ("timings:clip.timings", .file("clip.timings"), nil),
      ("timings:a b:c", .file("a b:c"), nil), ("profile:slow.json", .declared, "slow.json"),
      ("timings+profile:slow.json", .session(run: nil), "slow.json"),
      ("timings:a+b+profile:c+d", .file("a+b"), "c+d"),
    ] as [(String, CostChoice.Source, String?)])
  func `a choice reads back as it was written`(
    text: String, source: CostChoice.Source, profile: String?
  ) throws {
    let choice = try #require(CostChoice(parsing: text))
    #expect(choice.source == source)
    #expect(choice.profile == profile)
    #expect("\(choice)" == text)
    #expect(choice.needsSimulation == (text != "declared"))
    #expect(choice.hasTimings == (source != .declared))
  }

  @Test func `a profile of the declared costs may say so`() throws {
    let choice = try #require(CostChoice(parsing: "declared+profile:slow.json"))
    #expect("\(choice)" == "profile:slow.json")
  }

  @Test(arguments: [
    "", "none", "Timings", "timings:", "timings@", "timings@x", "timings@-1", "profile", "profile:",
    "timings+profile:", "timings+", "measured", "none+profile:a", "timings:a+profile:",
  ])
  func `anything else is no choice`(text: String) {
    #expect(CostChoice(parsing: text) == nil)
  }
}
