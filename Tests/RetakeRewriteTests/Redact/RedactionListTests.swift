import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

@Suite struct RedactionListTests {
  private func line(_ sequence: Int, track: Int = 0, _ isUncertain: Bool) -> String {
    "{\"areas\":[],\"sequence\":\(sequence),\"track\":\(track),\"uncertain\":\(isUncertain)}\n"
  }

  private func frames(_ text: String?, track: Int = 0) throws -> [Int] {
    let folder = try TemporaryFolder()
    if let text { try folder.write(text, to: RedactionList.name) }
    return try RedactionList.uncertainFrames(
      of: SessionFolder(path: folder.url.path), track: track)
  }

  @Test func `the uncertain frames of a track are read`() throws {
    let text = line(0, true) + line(1, false) + line(7, true)
    #expect(try frames(text) == [0, 7])
    #expect(try frames(text, track: 1).isEmpty)
    #expect(try frames("").isEmpty)
    #expect(try frames(nil).isEmpty)
  }

  @Test func `a list that is damaged or no file is refused with the line`() throws {
    for bad in [
      "[]\n", "{\n", line(1, true), line(0, true), line(-1, true),
      "{\"sequence\":9,\"track\":0,\"uncertain\":1}\n", "{\"track\":0,\"uncertain\":true}\n",
    ] {
      let error = try #require(throws: ErrorFacts.self) { try frames(line(1, true) + bad) }
      #expect(error.code == "session.redact.list", "\(bad)")
      #expect(error.cause == "line 2 is not a frame of the list", "\(bad)")
    }
    let folder = try TemporaryFolder()
    let list = try folder.write(line(0, true), to: "other.jsonl")
    try folder.write("", to: "media/empty")
    try FileManager.default.createSymbolicLink(
      at: folder.file(RedactionList.name), withDestinationURL: list)
    let error = try #require(throws: ErrorFacts.self) {
      try RedactionList.uncertainFrames(of: SessionFolder(path: folder.url.path), track: 0)
    }
    #expect(error.code == "session.redact.list" && error.cause == "it is a symbolic link")
  }
}
