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
  ]
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
