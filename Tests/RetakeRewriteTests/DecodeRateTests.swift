import RetakeSession
import RetakeTestClips
import Testing

@testable import RetakeRewrite

@Suite struct DecodeRateTests {
  @Test(arguments: [(200, 105.0, true), (200, 111, false), (200, 50, true), (0, 50, false)])
  func `a copy that is read no faster is no gain, beyond the machine's noise`(
    frames: Int, framesPerSecond: Double, isNoGain: Bool
  ) {
    let rate = DecodeRate(
      frames: frames, originalFramesPerSecond: 100, copyFramesPerSecond: framesPerSecond)
    #expect(rate.isNoGain == isNoGain)
  }

  @Test func `both sessions are read, and what is no session has no rate`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let folder = SessionFolder(path: imported.path)
    let same = DecodeRate(original: folder, copy: folder)
    #expect(same.frames > 0 && same.frames <= DecodeRate.framesMax)
    #expect(same.originalFramesPerSecond > 0 && same.copyFramesPerSecond > 0)
    let gone = DecodeRate(original: folder, copy: SessionFolder(path: imported.path + "/absent"))
    #expect(gone.frames == 0 && gone.copyFramesPerSecond == 0 && !gone.isNoGain)
  }
}
