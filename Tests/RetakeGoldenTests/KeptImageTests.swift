import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeGolden

/// Files of images among observations.
@Suite struct KeptImageTests {
  private static let frame = FrameID(track: 0, sequence: 7)
  private static let name = GoldenFolder.imageName(
    frame, sink: "each/depth", index: 1, isPicture: false)

  private func kept(_ folder: TemporaryFolder) -> StoredImages.Kept {
    GoldenFolder(folder.url).image(
      StoredImages.Place(frame: Self.frame, sink: "each/depth", index: 1)
    ) { _ in nil }
  }

  @Test func `a file that is no image is not the same as no file`() throws {
    let folder = try TemporaryFolder()
    #expect(Self.name == "image-0-000007-each-depth-1.npy")
    guard case .absent = kept(folder) else {
      Issue.record("there is no file")
      return
    }
    let array = try #require(PixelArray(width: 2, height: 1, [1, 2]))
    let file = folder.file(Self.name)
    try Data(try #require(array.npy)).write(to: file)
    guard case .array(let read) = kept(folder) else {
      Issue.record("there is a file")
      return
    }
    #expect(read == array)
    try Data([1, 2, 3]).write(to: file)
    guard case .unreadable = kept(folder) else {
      Issue.record("the file is no image")
      return
    }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: folder.file("missing").path)
    guard case .unreadable = kept(folder) else {
      Issue.record("the link leads nowhere")
      return
    }
  }
}
