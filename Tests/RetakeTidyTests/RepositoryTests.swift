import Foundation
import Testing

/// The repository stays small and mentions only Retake.
@Suite struct RepositoryTests {
  @Test func `files and recordings are small`() throws {
    let sizes = try Repository.sizes()
    #expect(sizes["Package.swift"] != nil)
    let findings = RepositoryRules.findings(sizes: sizes)
    #expect(findings == [])
  }

  @Test func `the README is short`() throws {
    let readme = try Repository.texts().first { $0.path == "README.md" }
    #expect(RepositoryRules.findings(readme: readme?.text ?? "") == [])
  }

  @Test func `no text names a machine or a tracker`() throws {
    for file in try Repository.texts() {
      let findings = try RepositoryRules.findings(in: file)
      #expect(findings == [])
    }
  }

  @Test func `a large file is found`() {
    let edge = RepositoryRules.fileMegabytesMax << 20
    let findings = RepositoryRules.findings(sizes: ["Tests/big.bin": edge + 1, "small.bin": edge])
    #expect(findings.map(\.path) == ["Tests/big.bin"])
  }

  @Test func `recordings that are large together are found`() {
    let each = RepositoryRules.fileMegabytesMax << 20
    let five = Dictionary(uniqueKeysWithValues: (1...5).map { ("Recordings/\($0).mkv", each) })
    #expect(RepositoryRules.findings(sizes: five) == [])
    let six = five.merging(["Recordings/6.mkv": 1]) { $1 }
    #expect(RepositoryRules.findings(sizes: six).map(\.path) == ["Recordings"])
  }

  @Test func `a long README is found`() {
    let edge = String(repeating: "line\n", count: RepositoryRules.readmeLinesMax)
    #expect(RepositoryRules.findings(readme: edge) == [])
    #expect(RepositoryRules.findings(readme: edge + "line\n").count == 1)
  }

  @Test(arguments: ["wo" + "rk/x", "ro" + "ot", "tm" + "p/a.mp4", "op" + "t/swift/usr"])
  func `the path of a machine is found`(path: String) throws {
    let file = SourceFile(path: "CONTRIBUTING.md", text: "see\n`/\(path)`\n")
    #expect(try RepositoryRules.findings(in: file).map(\.line) == [2])
    let relative = SourceFile(path: "CONTRIBUTING.md", text: "see media/\(path) and ../\(path)")
    #expect(
      try RepositoryRules.findings(in: relative).filter { _ in !path.contains("swift") } == [])
  }

  @Test func `a published text that is named outside of the lab is found`() throws {
    let word = "artic" + "le"
    func count(_ text: String, at path: String) throws -> Int {
      try RepositoryRules.findings(in: SourceFile(path: path, text: text)).count
    }
    #expect(try count("the \(word)'s figures", at: "docs/pools.md") == 1)
    #expect(try count("retake bench \(word)s, retake-lab \(word)s", at: "CHANGELOG.md") == 0)
    #expect(try count("the \(word)'s figures", at: "Sources/Lab/README.md") == 0)
  }

  @Test func `the number of a tracker is found`() throws {
    let file = SourceFile(path: "Sources/Engine/RetakeCore/Row.swift", text: "// see iss" + "ue #7")
    #expect(try RepositoryRules.findings(in: file).count == 1)
  }
}
