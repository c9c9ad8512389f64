import Foundation
import RetakeTestSupport
import Testing

/// docs/overrides.md: its example runs, and prints the documented lines.
@Suite struct OverridePageTests {
  private func page() throws -> String {
    try String(contentsOf: packageRoot.appending(path: "docs/overrides.md"), encoding: .utf8)
  }

  /// The first code block in a language.
  private func block(_ language: String) throws -> String {
    try #require(
      try PageBlock.blocks(of: "docs/overrides.md").first { $0.language == language }, "\(language)"
    ).text
  }

  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.folder.write(try block("json"), to: "heat.json")
    let recordings = workplace.folder.file("Recordings")
    try FileManager.default.createDirectory(at: recordings, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Recordings/figures"),
      to: recordings.appending(path: "figures"))
    return workplace
  }

  @Test func `the example gives the lines of the page`() throws {
    let workplace = try workplace()
    let commands = try block("sh").replacing("retake replay", with: "'\(Workplace.binary)' replay")
    let result = try runCommand(
      "bash", arguments: ["-e", "-c", commands], environment: ["CI": nil],
      folder: workplace.folder.url)
    #expect(result.status == 0, "\(result.stderr)")
    func decisions(_ text: String) -> [Substring] {
      text.split(separator: "\n").filter { $0.hasPrefix("@") }
    }
    #expect(decisions(result.stdout).count == 4)
    #expect(decisions(result.stdout) == decisions(try page()))
  }

  @Test func `an event that no throttle looks at is told`() throws {
    let workplace = try workplace()
    func told(_ pipeline: String, _ mode: String) throws -> String {
      let result = try workplace.retake(
        "replay", "figures", "--pipeline", pipeline, "--mode", mode, "--override",
        "thermal=serious@2s")
      #expect(result.status == 0)
      return result.stderr
    }
    #expect(
      try told("example:motion-boxes", "simulate")
        == "note: device events have no effect here: no throttle of 'motion-boxes' has rules, and no "
        + "pool follows heat or memory\n")
    #expect(try told("heat.json", "simulate").isEmpty)
    #expect(try told("heat.json", "every-frame").contains("have no effect in every-frame mode"))
  }

  @Test func `a profile that follows heat makes an event count`() throws {
    let workplace = try workplace()
    try workplace.folder.write(
      #"{"v": 1, "name": "hot", "thermal": [{"state": "serious", "scale": 40}]}"#, to: "hot.json")
    try workplace.folder.write(
      #"{"v": 1, "name": "slow", "scale": {"*": 2}}"#, to: "slow.json")
    func run(_ profile: String, _ override: String...) throws -> (note: String, digest: String?) {
      let overrides = override.flatMap { ["--override", $0] }
      let result = try workplace.retake(
        words: [
          "replay", "figures", "--pipeline", "example:motion-boxes", "--mode", "simulate",
          "--costs", "profile:\(profile).json", "--json",
        ] + overrides)
      try #require(result.status == 0, "\(result.stderr)")
      return (result.stderr, try result.json().decisionDigest.text)
    }
    let cool = try run("hot")
    let hot = try run("hot", "thermal=serious@2s")
    #expect(hot.digest != cool.digest && hot.note.isEmpty, "\(hot.note)")
    // The profile follows heat, and no policy follows memory.
    let memory = try run("hot", "memory=warning@2s")
    #expect(memory.digest == cool.digest && memory.note.contains("have no effect here"))
    let slow = try run("slow", "thermal=serious@2s")
    #expect(try slow.digest == run("slow").digest && slow.note.contains("have no effect here"))
  }

  @Test func `an override after the last frame is reported`() throws {
    let workplace = try workplace()
    func told(_ mode: String, _ override: String) throws -> String {
      try workplace.retake(
        "replay", "figures", "--pipeline", "heat.json", "--mode", mode, "--override", override
      ).stderr
    }
    let place = "is after the last frame, which arrives at "
    #expect(
      try told("simulate", "thermal=serious@99s").hasPrefix(
        "note: the override 'thermal=serious@99s' \(place)"))
    #expect(
      try told("every-frame", "swap:motion@99s={\"threshold\": 30}").contains(place))
    #expect(try !told("every-frame", "thermal=serious@99s").contains(place))
    #expect(try told("simulate", "thermal=serious@2s").isEmpty)
  }

  @Test(arguments: [
    ("swap:motion@frame9999", "frame 0:9999 never happens: the frames of track 0 are 0 to 299"),
    ("swap:motion@frame7:0", "frame 7:0 never happens: no source reads track 7"),
  ])
  func `a swap at a frame that never arrives is reported`(moment: String, note: String) throws {
    let workplace = try workplace()
    let result = try workplace.retake(
      "replay", "figures", "--pipeline", "example:motion-boxes", "--mode", "simulate",
      "--override", "\(moment)={\"threshold\": 30}")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stderr == "note: the swap of 'motion' at \(note)\n")
  }

  @Test func `the case runs with its overrides, and its golden names them`() throws {
    let workplace = try workplace()
    try workplace.folder.write("v: 1\n" + (try block("yaml")), to: "retake.yml")
    #expect(try workplace.retake("test", "figures").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    #expect(try workplace.retake("test", "figures").status == 0)
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/figures/hot/golden.yml"), encoding: .utf8)
    #expect(golden.contains("swap:motion@frame100") && golden.contains("thermal@2s"))
    let other = try workplace.retake(
      "test", "figures", "--pipeline", "hot", "--override", "battery=9@1s")
    #expect(other.status == 5, "\(other.stdout)")
  }
}
