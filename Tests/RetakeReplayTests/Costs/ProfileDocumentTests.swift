import Foundation
import RetakeCore
import RetakeReplay
import RetakeRuntime
import RetakeTestSupport
import RetakeTimePlane
import Testing

/// An invalid device profile: where the error is, and its message.
struct WrongProfile: Sendable, CustomTestStringConvertible {
  var text: String
  var pointer: String
  var says: String

  init(_ text: String, at pointer: String, _ says: String) {
    self.text = text
    self.pointer = pointer
    self.says = says
  }

  /// With a valid beginning.
  init(_ member: String, _ pointer: String, _ says: String) {
    self.init("{\"v\": 1, \"name\": \"slow\", \(member)}", at: pointer, says)
  }

  var testDescription: String { text }

  static let all = [
    Self("", at: "", "retake") as Self,
    Self("[]", at: "", "an object"),
    Self("{}", at: "", "'v' is missing"),
    Self("{\"v\": 2, \"name\": \"slow\"}", at: "/v", "version 2; this Retake reads version 1"),
    Self("{\"v\": 2, \"cores\": 4}", at: "/v", "version 2; this Retake reads version 1"),
    Self("{\"v\": 1}", at: "", "'name' is missing"),
    Self("{\"v\": 1, \"name\": \"a/b\"}", at: "/name", "a profile's name"),
    Self("{\"v\": 1, \"name\": \"\"}", at: "/name", "a profile's name"),
    Self("\"scal\": {}", "/scal", "Did you mean 'scale'?"),
    Self("\"scale\": 2", "/scale", "an object"),
    Self("\"scale\": {\"*\": -1}", "/scale/*", "a number from 0 to 1000"),
    Self("\"scale\": {\"*\": 1001}", "/scale/*", "a number from 0 to 1000"),
    Self("\"scale\": {\"*\": 1.2345678}", "/scale/*", "six digits"),
    Self("\"scale\": {\"a/b\": \"2\"}", "/scale/a~1b", "a number from 0 to 1000"),
    Self("\"executors\": {\"vision\": 0}", "/executors/vision", "1 to 1024"),
    Self("\"executors\": {\"vision\": 1.5}", "/executors/vision", "an integer"),
    Self("\"pools\": {\"frames\": 5000}", "/pools/frames", "1 to 4096"),
    Self("\"thermal\": {}", "/thermal", "an array"),
    Self("\"thermal\": [{\"after\": \"30s\"}]", "/thermal/0", "'scale' is missing"),
    Self("\"thermal\": [{\"scale\": 2}]", "/thermal/0", "'after' is missing"),
    Self("\"thermal\": [{\"after\": 30, \"scale\": 2}]", "/thermal/0/after", "has a unit"),
    Self("\"thermal\": [{\"after\": \"30\", \"scale\": 2}]", "/thermal/0/after", "45ms"),
    Self("\"thermal\": [{\"atfer\": \"30s\"}]", "/thermal/0/atfer", "Did you mean 'after'?"),
    Self(
      "\"thermal\": [{\"after\": \"2s\", \"scale\": 1}, {\"after\": \"2s\", \"scale\": 1}]",
      "/thermal/1/after", "in the order of their time"),
    Self(
      "\"thermal\": [{\"after\": \"2s\", \"state\": \"fair\", \"scale\": 1}]", "/thermal/0",
      "either 'after' or 'state'"),
    Self(
      "\"thermal\": [{\"state\": \"serious\", \"scale\": 1}, {\"state\": \"fair\", \"scale\": 1}]",
      "/thermal/1/state", "in the order of their states"),
    Self(
      "\"thermal\": [{\"after\": \"2s\", \"scale\": 1, \"power\": 1}]", "/thermal/0/power",
      "only the steps of states"),
    Self("\"copyRate\": 10", "/copyRate", "as a string with its unit"),
    Self("\"copyRate\": \"0GB/s\"", "/copyRate", "above 0"),
    Self("\"basis\": {\"scale\": \"measured\"}", "/basis/scale", "the profile has no 'scale'"),
    Self("\"basis\": {\"name\": \"guessed\"}", "/basis/name", "'measured', 'assumed' or 'derived'"),
    Self("\"heat\": {}", "/heat", "'nodes' is missing"),
    Self(heat: "\"capacity\": 5", "/heat/nodes/0/capacity", "Write it like \"1.5J/K\""),
    Self(heat: "\"capacity\": \"5W\"", "/heat/nodes/0/capacity", "Write it like \"1.5J/K\""),
    Self(heat: "\"capacity\": \"0J/K\"", "/heat/nodes/0/capacity", "above 0"),
    Self(heat: "\"capacity\": \"0.01J/K\"", "/heat/nodes/0", "at least 0.2 s"),
  ]

  /// In place of the capacity of a valid heat model.
  init(heat capacity: String, _ pointer: String, _ says: String) {
    self.init(
      "\"heat\": {\"ambient\": \"25C\", \"states\": {\"fair\": \"30C\", \"serious\": \"35C\", "
        + "\"critical\": \"40C\"}, \"nodes\": [{\"id\": \"case\", \"resistance\": \"4K/W\", "
        + "\(capacity)}]}", pointer, says)
  }
}

@Suite struct ProfileDocumentTests {
  private static let document = """
    {"v":1,"name":"slow-phone","scale":{"*":2.0,"motion":3.5},"executors":{"vision":2},
     "pools":{"frames":6},"thermal":[{"after":"30s","scale":1.3}]}
    """

  private func read(_ text: String) throws -> DeviceProfile {
    let folder = try TemporaryFolder()
    return try DeviceProfile(reading: try folder.write(text, to: "p.json").path, named: "p.json")
  }

  @Test func `a profile is read with every number exact`() throws {
    let profile = try read(Self.document)
    #expect(profile.name == "slow-phone")
    #expect(profile.scale.mapValues(\.description) == ["*": "2", "motion": "3.5"])
    #expect(profile.executors == ["vision": 2])
    #expect(profile.pools == ["frames": 6])
    #expect(profile.thermal.map(\.after) == [.seconds(30)])
    #expect(profile.thermal.map(\.scale.description) == ["1.3"])
    #expect(try read("{\"v\": 1, \"name\": \"plain\"}") == DeviceProfile(name: "plain"))
  }

  private static let hot = """
    {"v":1,"name":"hot","copyRate":"10.5GB/s",
     "thermal":[{"state":"fair","scale":1.1},{"state":"serious","scale":2,"power":0.25}],
     "heat":{"ambient":"21.5C","start":"30C","sensor":"case","idle":"1.8W",
      "nodes":[{"id":"chip","capacity":"8J/K","resistance":"2.5K/W"},
       {"id":"case","capacity":"142.125J/K","resistance":"4.1K/W"}],
      "busy":{"*":"1.5W","gpu":"0.000001W"},"copy":"0.5nJ/B","hysteresis":"1.5K",
      "states":{"fair":"40C","serious":"45C","critical":"50C"}},
     "basis":{"heat":"assumed","heat.nodes":"derived: from its weight","copyRate":"measured"}}
    """

  @Test func `a heat model is read with every number exact`() throws {
    let profile = try read(Self.hot)
    let heat = try #require(profile.heat)
    #expect(heat.ambient == 21.5 && heat.start == 30 && heat.sensor == 1)
    #expect(heat.nodes.map(\.capacity) == [8_000, 142_125])
    #expect(heat.nodes.map(\.resistance) == [2_500, 4_100])
    #expect(heat.idleMicrowatts == 1_800_000)
    #expect(heat.busyMicrowatts(of: "gpu") == 1 && heat.busyMicrowatts(of: "x") == 1_500_000)
    #expect(heat.femtojoulesPerByte == 500_000 && heat.hysteresisMillidegrees == 1_500)
    #expect(heat.limits == .init(fair: 40, serious: 45, critical: 50))
    #expect(profile.copyBytesPerSecond == 10_500_000_000)
    #expect(profile.copyNanoseconds(bytes: 8_294_400) == 789_942)
    #expect(profile.scale(in: .nominal) == .one && profile.scale(in: nil) == .one)
    #expect(profile.scale(in: .critical).description == "2")
    #expect(profile.states.map(\.power.description) == ["1", "0.25"])
    #expect(profile.basis["heat.nodes"] == "derived: from its weight")
    // Where numbers come from changes no decision.
    let other = try read(Self.hot.replacing("measured", with: "assumed"))
    #expect(other.digest == profile.digest)
    for (old, new) in [
      ("142.125", "142.126"), ("4.1K", "4.2K"), ("1.8W", "1.9W"), ("0.000001W", "0W"),
      ("0.5nJ", "0.6nJ"), ("1.5K\"", "2K\""), ("50C", "51C"), ("30C", "31C"), ("10.5", "10.6"),
      ("0.25", "0.3"), ("21.5C", "22C"),
    ] {
      #expect(try read(Self.hot.replacing(old, with: new)).digest != profile.digest, "\(old)")
    }
  }

  @Test func `the same profile written otherwise has the same digest`() throws {
    let other = """
      {"thermal": [{"scale": 1.30, "after": "30000ms"}], "pools": {"frames": 6},
       "executors": {"vision": 2}, "scale": {"motion": 3.5, "*": 2}, "name": "slow-phone", "v": 1}
      """
    #expect(try read(other).digest == read(Self.document).digest)
    #expect(
      try read(Self.document.replacing("3.5", with: "3.4")).digest != read(Self.document).digest)
  }

  @Test(arguments: WrongProfile.all)
  func `what is wrong in a profile is named with its place and what to do`(
    wrong: WrongProfile
  ) throws {
    let error = try #require(#expect(throws: ReplayError.self) { try read(wrong.text) })
    #expect(error.code == "replay.profile.malformed")
    #expect(error.place?.file == "p.json")
    if !wrong.text.isEmpty {
      #expect(error.place?.pointer == wrong.pointer)
      #expect(error.description.contains(wrong.says), "\(error.description)")
    }
    #expect(error.advice?.isEmpty == false)
  }

  @Test func `a file that is not there, is a folder or is huge is an error`() throws {
    let folder = try TemporaryFolder()
    for (path, says) in [("absent.json", "no such file"), ("", "a folder")] {
      let error = #expect(throws: ReplayError.self) {
        try DeviceProfile(reading: folder.file(path).path)
      }
      #expect(error?.code == "replay.profile.unreadable")
      #expect(error?.cause?.contains(says) == true)
    }
    let spaces = String(repeating: " ", count: 1 << 20)
    let error = #expect(throws: ReplayError.self) { try read(spaces + Self.document) }
    #expect(error?.message.contains("larger than 1 MiB") == true)
  }
}
