import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// What a copy or an export reports when its disk is full.
@Suite struct FullDiskTests {
  private static let target = FileManager.default.temporaryDirectory.path + "/none/yard"

  private static let causes: [any Error] = [
    StoreError.diskFull(path: target + "/session.sqlite"),
    MediaError.write(file: target + "/media/a.mkv", errorNumber: ENOSPC, cause: "full"),
    SessionError.write(target, POSIXError(.ENOSPC)),
    CocoaError(.fileWriteOutOfSpace), POSIXError(.ENOSPC), POSIXError(.EDQUOT),
  ]

  @Test func `every kind of error of a full disk becomes the same error`() {
    for cause in Self.causes {
      let facts = FullDisk.error(cause, writing: Self.target).facts
      #expect(facts.code == "session.disk.full", "\(cause)")
      #expect(facts.place?.file == Self.target)
      #expect(
        facts.message.hasPrefix("this cannot be written: no space left on the disk at /"))
      #expect(facts.message.hasSuffix("; nothing was left behind"))
      #expect(facts.advice?.contains("df -h") == true)
    }
  }

  @Test func `other errors stay as they are`() {
    let other: [any Error] = [
      StoreError.closed(path: "a"), MediaError.write(file: "a", errorNumber: EIO, cause: "b"),
      SessionError.write("a", POSIXError(.EACCES)), POSIXError(.EACCES),
      SessionError.interrupted,
    ]
    for error in other {
      let same = FullDisk.error(error, writing: Self.target)
      #expect(same.facts == error.facts)
    }
  }

  @Test func `a copy that is refused beforehand names its target, and not a hidden folder`() {
    let early = SessionError.noRoomForCopy(path: "/hidden", needBytes: 504_961, freeBytes: 204_800)
    let facts = FullDisk.error(early, writing: Self.target).facts
    #expect(facts.code == "session.copy.noRoom" && facts.place?.file == Self.target)
    #expect(facts.message.hasPrefix("the copy needs 505.0 kB, and the disk at /"))
    #expect(facts.message.hasSuffix(" has 204.8 kB left; nothing was written"))
  }

  @Test func `an error of Foundation has the system's words, and not a dump of its fields`() {
    #expect(CocoaError(.fileWriteOutOfSpace).causeText == "No space left on device")
    #expect(POSIXError(.EACCES).causeText == "Permission denied")
    #expect(SessionError.interrupted.causeText == SessionError.interrupted.description)
    #expect(CocoaError(.fileWriteOutOfSpace).facts.message == "No space left on device")
  }

  @Test func `a missing media file is named with its session and the way to make it again`() {
    let error = SessionError.mediaMissing(file: "/data/Recordings/my yard/media/original.mp4")
    #expect(error.message == "the media file of the session 'my yard' is missing")
    #expect(error.place?.file == "/data/Recordings/my yard/media/original.mp4")
    #expect(error.advice?.hasSuffix("retake import ORIGINAL --name 'my yard'") == true)
  }

  @Test func `a file instead of a session is the file of the command that makes a session`() throws
  {
    let folder = try TemporaryFolder()
    try folder.write("no session", to: "a clip.mp4")
    let file = folder.file("a clip.mp4").path
    let error = SessionError.notSession(path: file, cause: "it is a file")
    #expect(error.advice?.hasSuffix("retake import '\(file)'") == true)
    let none = SessionError.notSession(path: folder.url.path, cause: "it is empty")
    #expect(none.advice?.hasSuffix("retake import FILE") == true)
  }

  @Test func `the advice for clocks that do not compare leaves out the way that failed`() {
    for method in ["audio", "flash", "wall"] {
      let error = SessionError.notAligned(sessions: ["a", "b"], method: method, cause: "c")
      #expect(error.advice?.contains(method) == false, "\(method)")
      #expect(error.advice?.hasSuffix("session join a b --align offset --offset 237ms") == true)
    }
    let same = SessionError.notAligned(sessions: ["a"], method: "offset", cause: "c")
    #expect(same.message == "a session cannot be joined with itself")
    #expect(same.facts.kind == .usage)
  }
}
