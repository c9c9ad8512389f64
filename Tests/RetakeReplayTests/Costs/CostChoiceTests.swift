import RetakeReplay
import Testing

@Suite struct CostChoiceTests {
  @Test(
    arguments: [
      ("declared", CostChoice.Source.declared, nil), ("tape", .session(run: nil), nil),
      ("tape@3", .session(run: 3), nil), ("tape:clip.tape", .file("clip.tape"), nil),
      ("tape:a b:c", .file("a b:c"), nil), ("profile:slow.json", .declared, "slow.json"),
      ("tape+profile:slow.json", .session(run: nil), "slow.json"),
      ("tape:a+b+profile:c+d", .file("a+b"), "c+d"),
    ] as [(String, CostChoice.Source, String?)])
  func `a choice reads back as it was written`(
    text: String, source: CostChoice.Source, profile: String?
  ) throws {
    let choice = try #require(CostChoice(parsing: text))
    #expect(choice.source == source)
    #expect(choice.profile == profile)
    #expect("\(choice)" == text)
    #expect(choice.needsSimulation == (text != "declared"))
    #expect(choice.hasTape == (source != .declared))
  }

  @Test func `a profile of the declared costs may say so`() throws {
    let choice = try #require(CostChoice(parsing: "declared+profile:slow.json"))
    #expect("\(choice)" == "profile:slow.json")
  }

  @Test(arguments: [
    "", "none", "Tape", "tape:", "tape@", "tape@x", "tape@-1", "profile", "profile:",
    "tape+profile:", "tape+", "measured", "none+profile:a", "tape:a+profile:",
  ])
  func `anything else is no choice`(text: String) {
    #expect(CostChoice(parsing: text) == nil)
  }
}
