import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct PendingFileTests {
  private func names(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test func `a file gets its name when it is complete`() throws {
    let folder = try TemporaryFolder()
    let file = try #require(PendingFile(for: folder.file("out.csv").path, ending: ".csv"))
    try file.handle.write(contentsOf: Data("a".utf8))
    #expect(try names(folder) == [URL(fileURLWithPath: file.hidden).lastPathComponent])
    try file.finish(replacing: false)
    #expect(try names(folder) == ["out.csv"])
  }

  @Test func `the next writer removes the file of a killed one, and nothing else`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("out.csv").path
    // What a killed writer leaves: no process holds a lock on it.
    try folder.write("half", to: ".out.csv.0123ABCD.csv")
    let others = [
      ".out.csv.0123ABCD", ".out.csv.mine-own.csv", "out.csv.0123ABCD.csv", ".other.0123ABCD.csv",
    ]
    for name in others { try folder.write("mine", to: name) }
    let living = try #require(PendingFile(for: path, ending: ".csv"))
    #expect(try !names(folder).contains(".out.csv.0123ABCD.csv"))
    let second = try #require(PendingFile(for: path, ending: ".csv"))
    try second.finish(replacing: true)
    try living.handle.write(contentsOf: Data("b".utf8))
    try living.finish(replacing: true)
    #expect(try String(contentsOf: folder.file("out.csv"), encoding: .utf8) == "b")
    #expect(try Set(names(folder)) == Set(others + ["out.csv"]))
  }

  @Test func `without replacing, a file that came meanwhile stays`() throws {
    let folder = try TemporaryFolder()
    let file = try #require(PendingFile(for: folder.file("out.csv").path, ending: ".csv"))
    try folder.write("mine", to: "out.csv")
    #expect(throws: (any Error).self) { try file.finish(replacing: false) }
    file.discard()
    #expect(try names(folder) == ["out.csv"])
    #expect(try String(contentsOf: folder.file("out.csv"), encoding: .utf8) == "mine")
  }
}
