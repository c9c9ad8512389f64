import Foundation
import Retake
import RetakeTestSupport
import Testing

/// The heat benchmark gives the same results as the documentation on every machine.
@Suite struct HeatBenchTests {
  private func page(_ name: String) throws -> String {
    try String(contentsOf: packageRoot.appending(path: "docs/\(name)"), encoding: .utf8)
  }

  @Test func `the table of the documentation is what the command gives`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "heat")
    try #require(result.status == 0, "\(result.stderr)")
    #expect(try page("heat.md").contains("\n```\n\(result.stdout)```\n"), "\(result.stdout)")
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
