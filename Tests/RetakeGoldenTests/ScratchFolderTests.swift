import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeGolden

/// Folders of writers that work at the same time, and of a killed writer.
@Suite struct ScratchFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `what a writer removed may be another one's since`() throws {
    let first = try ScratchFolder(in: folder.url)
    first.remove()
    let second = try ScratchFolder(in: folder.url)
    try #require(second.url == first.url)
    first.remove()
    #expect(exists(second.url))
    withExtendedLifetime(second) {}
  }

  @Test func `a writer that ends removes its own folder only`() throws {
    var first: ScratchFolder? = try ScratchFolder(in: folder.url)
    first?.remove()
    let second = try ScratchFolder(in: folder.url)
    first = nil
    #expect(exists(second.url))
    withExtendedLifetime(second) {}
  }

  @Test func `a folder that is new since it was looked at is not an abandoned one`() throws {
    var first: ScratchFolder? = try ScratchFolder(in: folder.url)
    let url = try #require(first).url
    var second: ScratchFolder?
    ScratchFolder.removeIfAbandoned(url) {
      first = nil
      second = try? ScratchFolder(in: folder.url)
    }
    #expect(second?.url == url && exists(url))
    withExtendedLifetime(second) {}
    // Without its writer it is abandoned, and is removed with its content.
    second = nil
    let left = folder.url.appending(path: ".writing-1-0.new/yard")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    ScratchFolder.removeIfAbandoned(left.deletingLastPathComponent())
    #expect(!exists(left.deletingLastPathComponent()))
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }
}
