import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCore

struct RegularFileTests {
  private func refusal(
    _ path: String, links: RegularFile.Links = .refused, bytesMax: Int64 = 100
  ) -> RegularFile.Refusal? {
    do throws(RegularFile.Refusal) {
      _ = try RegularFile.contents(path, links: links, bytesMax: bytesMax)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a regular file is read, up to its limit`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("0123456789", to: "file").path
    #expect(try RegularFile.contents(path, bytesMax: 10) == Data("0123456789".utf8))
    #expect(try RegularFile.head(path, count: 4) == Data("0123".utf8))
    #expect(try RegularFile.facts(of: path).bytes == 10)
    #expect(refusal(path, bytesMax: 9) == .tooLarge(bytes: 10, bytesMax: 9))
    #expect(refusal(path + "/inside") == .missing)
    #expect(refusal(folder.file("absent").path) == .missing)
    #expect(refusal(folder.url.path) == .folder)
  }

  @Test func `a link is followed only where that is asked for`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("words", to: "file").path
    let (link, lost) = (folder.file("link").path, folder.file("lost").path)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try FileManager.default.createSymbolicLink(atPath: lost, withDestinationPath: "nowhere")
    #expect(refusal(link) == .link)
    #expect(try RegularFile.contents(link, links: .followed, bytesMax: 9) == Data("words".utf8))
    #expect(refusal(lost) == .link)
    #expect(refusal(lost, links: .followed) == .missing)
    #expect(RegularFile.isTaken(lost))
    #expect(!RegularFile.isTaken(folder.file("absent").path))
  }

  @Test func `pipes and devices are refused without waiting for them`() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.file("pipe").path
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(refusal(pipe) == .special("a named pipe"))
    #expect(refusal(pipe, links: .followed) == .special("a named pipe"))
    #expect(refusal("/dev/zero") == .special("a device"))
    let link = folder.file("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/zero")
    #expect(refusal(link, links: .followed) == .special("a device"))
  }
}
