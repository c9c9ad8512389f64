import Foundation
import RetakeCore
import RetakeReplay
import RetakeTestSupport
import Testing

@Suite struct DecisionFileTests {
  private func names(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test func `the unfolded lines appear under their name when all are written`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("decisions.txt")
    let writer = try UnfoldedDecisionWriter(path: file.path)
    let notes = Notes()
    _ = try Samples.replay { $0.options.mode = .simulate }.run(observers: [writer, notes])
    #expect(!FileManager.default.fileExists(atPath: file.path))
    try writer.finish()
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.compactMap { DecisionLine(parsing: $0) } == notes.lines)
    #expect(lines.count == notes.lines.count)
    #expect(try names(folder) == ["decisions.txt"])
  }

  @Test func `a discarded file leaves nothing, and what was there stays`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("the old lines\n", to: "decisions.txt")
    let writer = try UnfoldedDecisionWriter(path: file.path)
    _ = try Samples.replay().run(observers: [writer])
    writer.discard()
    #expect(try names(folder) == ["decisions.txt"])
    #expect(try String(contentsOf: file, encoding: .utf8) == "the old lines\n")
  }

  @Test func `a folder that is not there is refused before anything runs`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("absent/decisions.txt").path
    let error = #expect(throws: ReplayError.self) { try UnfoldedDecisionWriter(path: path) }
    #expect(error?.code == "replay.decisions.unwritable")
    #expect(error?.place?.file == path)
    #expect(try names(folder).isEmpty)
  }

  @Test func `a folder under the file's name is refused before anything runs`() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "decisions.txt/inside")
    let path = folder.file("decisions.txt").path
    let error = #expect(throws: ReplayError.self) { try UnfoldedDecisionWriter(path: path) }
    #expect(error?.code == "replay.decisions.unwritable")
    #expect(try names(folder) == ["decisions.txt"])
  }

  @Test func `a device is written to and not replaced`() throws {
    let writer = try UnfoldedDecisionWriter(path: "/dev/null")
    _ = try Samples.replay().run(observers: [writer])
    try writer.finish()
    let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/null")
    #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
    #expect(!FileManager.default.fileExists(atPath: "/dev/null.partial"))
  }

  @Test func `a full device is an error`() throws {
    let writer = try UnfoldedDecisionWriter(path: "/dev/full")
    writer.decided(DecisionLine(time: 0, node: "motion", kind: .drop))
    let error = #expect(throws: ReplayError.self) { try writer.finish() }
    #expect(error?.code == "replay.decisions.unwritable")
    #expect(error?.cause?.isEmpty == false)
  }
}
