import Foundation
import RetakeTestClips
import Testing

@testable import RetakeSession

/// What a session says of itself when a media file is not the file that was stored.
struct MediaFaultTests {
  enum Fault: CaseIterable { case missing, shorter, longer }

  @Test(arguments: Fault.allCases)
  func `a session without its media is not called clean`(fault: Fault) throws {
    let imported = try ImportedClip(.twoTracks)
    let folder = imported.result.folder
    #expect(try SessionSummary(of: folder).status == .clean)
    let name = try #require(SessionReader(opening: folder.path).mediaFiles().first)
    let file = URL(fileURLWithPath: try folder.file(name))
    var bytes = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    switch fault {
    case .missing: break
    case .shorter: try bytes.dropLast(10).write(to: file)
    case .longer:
      bytes.append(0)
      try bytes.write(to: file)
    }
    let info = try SessionReader(opening: folder.path).info()
    #expect(info.status == .lossy)
    #expect(info.losses?.contains(name) == true, "\(info.losses ?? "nil")")
    #expect(try SessionSummary(of: folder).status == .lossy)
    let recovered = try SessionRecovery(folder.path).run()
    #expect(!recovered.wasOpen && recovered.status == .lossy)
    #expect(recovered.losses == info.losses)
  }
}
