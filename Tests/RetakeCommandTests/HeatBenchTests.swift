import Foundation
import Retake
import RetakeTestSupport
import Testing

/// The heat benchmark has the documented results on every machine.
@Suite struct HeatBenchTests {
  private func page(_ name: String) throws -> String {
    try String(contentsOf: packageRoot.appending(path: "Sources/Lab/\(name)"), encoding: .utf8)
  }

  @Test func `the table of the lab is what the command gives`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "heat")
    try #require(result.status == 0, "\(result.stderr)")
    #expect(try page("heat.md").contains("\n```\n\(result.stdout)```\n"), "\(result.stdout)")
  }

  @Test func `JSON has the rows of the table`() throws {
    let workplace = try Workplace()
    let rows = try workplace.retake("bench", "heat", "--json").json().rows
    let names = Set((0..<rows.count).compactMap { rows[$0].trial.text })
    #expect(rows.count == 18 && names.isSuperset(of: ["0 copies", "3 copies", "15 fps"]))
  }

  @Test(arguments: ["phone-derived", "phone-calibrated"])
  func `the profiles of phones heat a pipeline whatever its executors are called`(
    name: String
  ) throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 60, size: "64x48")
    let profile = try workplace.retake("profile", "example", name).stdout
    let every = #""*": "1.5W", "#
    try #require(profile.contains(every))
    func heat(_ document: String, _ file: String) throws -> (millidegrees: Int, notes: String) {
      try workplace.folder.write(document, to: file)
      let result = try workplace.retake(
        "replay", "yard", "--pipeline", "example:motion-boxes", "--costs", "profile:\(file)",
        "--json")
      try #require(result.status == 0, "\(result.stderr)")
      return (try #require(try result.json().heat.hottestMillidegrees.int), result.stderr)
    }
    let whole = try heat(profile, "whole.json")
    #expect(!whole.notes.contains("no stage of this pipeline heats the device"), "\(whole)")
    let without = try heat(profile.replacing(every, with: ""), "without.json")
    #expect(without.notes.contains("no stage of this pipeline heats the device"), "\(without)")
    #expect(whole.millidegrees > without.millidegrees)
  }

  @Test func `commands of profiles take the flags that every command has`() throws {
    let workplace = try Workplace()
    let measured = try workplace.retake(
      "profile", "measure", "--name", "here", "--seconds", "1", "--json", "-q")
    try #require(measured.status == 0 && measured.stderr.isEmpty, "\(measured.stderr)")
    #expect(try measured.json().name.text == "here")
    let plain = try workplace.retake("profile", "example", "phone-derived")
    #expect(
      try workplace.retake("profile", "example", "phone-derived", "--json").stdout == plain.stdout)
    let list = try workplace.retake("profile", "example", "--json").json()
    let names = (0..<list.count).compactMap { list[$0].name.text }
    #expect(names.contains("phone-derived") && list[0].summary.text?.isEmpty == false)
    let lines = try workplace.retake("profile", "example").stdout.split(separator: "\n")
    #expect(names == lines.map { $0.prefix { $0 != " " } }.map(String.init))
  }

  @Test func `profiles that come along say of each number of their heat where it is from`() throws {
    let workplace = try Workplace()
    for name in ["vm-x86-2", "vm-x86-1", "phone-derived", "phone-calibrated"] {
      let result = try workplace.retake("profile", "example", name)
      try #require(result.status == 0, "\(result.stderr)")
      let path = try workplace.folder.write(result.stdout, to: "\(name).json").path
      let profile = try DeviceProfile(reading: path)
      #expect(profile.name == name)
      let document = try JSONValue(parsing: Data(result.stdout.utf8))
      guard case .object(let members)? = document["heat"] else {
        Issue.record("\(name) has no heat")
        continue
      }
      for key in members.keys {
        #expect(profile.basis["heat.\(key)"] != nil, "\(name): heat.\(key)")
      }
      // No phone, and no machine without sensors, has a measured heat.
      #expect(
        !profile.basis.contains { $0.key.hasPrefix("heat") && $0.value.hasPrefix("measured") })
      guard name.hasPrefix("vm") else { continue }
      #expect(profile.basis["copyRate"]?.hasPrefix("measured: ") == true)
      #expect(profile.copyBytesPerSecond ?? 0 > 100_000_000)
    }
    let unknown = try workplace.retake("profile", "example", "phone-derive")
    #expect(unknown.status == 2)
    #expect(unknown.stderr.contains("Did you mean 'phone-derived'?"), "\(unknown.stderr)")
  }
}
