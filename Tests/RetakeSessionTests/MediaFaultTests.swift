import Foundation
import RetakeCore
import RetakeStore
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
    let stored = bytes.count
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
    // The media cannot make the session whole, so asking for that is an error.
    let error = #expect(throws: (any Error).self) {
      try SessionRecovery(folder.path, fromMedia: true).run()
    }
    let facts = try #require(error as? any RetakeError)
    #expect(
      facts.code == (fault == .missing ? "session.recover.noMedia" : "session.media.mismatch"))
    if fault != .missing {
      #expect(
        facts.message.hasSuffix(
          "has \(bytes.count - (fault == .shorter ? 10 : 0)) bytes, not \(stored)"))
      #expect(facts.place?.file == file.path)
    }
    // Of a shorter file, most frames are there.
    guard fault != .shorter else { return }
    let check = try SessionCheck(path: folder.path).run()
    let packets = check.findings.filter { $0.code == "session.check.media" }
    let texts = packets.map { $0.message + " " + ($0.advice ?? "") }
    #expect(!texts.contains { $0.contains("packets") && $0.contains(" is not read") }, "\(texts)")
    #expect(!texts.contains { $0.contains("all other frames") }, "\(texts)")
  }

  @Test func `what this user may not read is said to be that, and is not repaired`() throws {
    let imported = try ImportedClip(.openGOP)
    let folder = imported.result.folder
    let size = try #require(imported.reader().index.mediaSizes.values.first)
    let path = folder.path + "/media/original.mp4"
    let denied = Result<Int64, any Error>.failure(RegularFile.Refusal.system(EACCES))
    #expect(MediaSizeFault.kind(of: path, denied, size) == .unreadable)
    let gone = Result<Int64, any Error>.failure(RegularFile.Refusal.missing)
    #expect(MediaSizeFault.kind(of: path, gone, size) == .missing)
    let fault = MediaSizeFault(
      kind: .unreadable, file: "media/original.mp4", bytes: 0, indexedBytes: 9)
    #expect(fault.text == "media/original.mp4 cannot be read: no permission")
    for error in [
      fault.error(at: path), RegularFile.Refusal.system(EACCES).error(ofMedia: path),
      StoreError(.system(EACCES), path: path),
    ] {
      #expect(error.code == "store.permission" && error.isAboutPermission)
      #expect(error.advice == "Make it readable: chmod u+rX \(path.shellWord)")
    }
    try folder.requireReadable()
    for denied in [folder.path, folder.media, folder.database, path] {
      let error = #expect(throws: StoreError.self) {
        try folder.requireReadable { name, _ in name == denied ? EACCES : 0 }
      }
      #expect(error?.place?.file == denied)
    }
  }
}
