import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import Testing

@testable import RetakeSession

@Suite struct SessionErrorTests {
  @Test func `a path with a space is one word of the command that an error advises`() {
    let path = "/media/my yard's/clip"
    let word = path.shellWord
    #expect(word == #"'/media/my yard'\''s/clip'"#)
    let frame = FrameID(track: 0, sequence: 1)
    let errors: [SessionError] = [
      .unknownTrack(session: path, track: 3, known: [0]),
      .unknownFrame(session: path, frame: frame),
      .noDatabase(path: path), .noFrames(file: path),
      .noGoodFrame(file: path, frames: 1, cause: nil), .beingRecorded(path: path, by: nil),
      .tooManySegments(file: path, frame: frame, segmentsMax: 1),
      .originalDiffers(session: path, file: "media/original.mp4"),
      .recoveryFailed(path: path, cause: ""), .notClosed(path: path),
      .noImages(session: path, track: 0), .trimDiffers(session: path, frame: frame, cause: ""),
      .optimizeDiffers(session: path, frame: frame, cause: ""),
      .nothingToExport(session: path, kind: "events"), .pixelMismatch(session: path, frame: frame),
      .noPixels(session: path, frame: frame, cause: ""),
      .undecodable(session: path, frame: frame, cause: ""),
      .badCosts(session: path, run: 0, detail: ""), .badRun(session: path, run: 0, detail: ""),
      .trimmedRun(session: "/media/a", run: 0, original: path),
    ]
    for error in errors {
      #expect(error.advice?.contains(" \(word)") == true, "\(error.code): \(error.advice ?? "")")
    }
  }

  @Test func `an error of the media or the database is one of the session`() {
    let address = MediaError.badAddress(address: "x")
    #expect(address.code == "media.live.address" && address.facts.kind == .usage)
    #expect(StoreError.noMemory(path: "x").isAboutMemory)
    #expect(!StoreError.diskFull(path: "x").isAboutMemory)
    for error: any Error in [address, StoreError.noMemory(path: "x"), SessionError.interrupted] {
      #expect(error.isAboutSession)
    }
  }
}
