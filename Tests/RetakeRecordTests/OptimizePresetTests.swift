import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRewrite
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

@Suite struct OptimizePresetTests {
  @Test(arguments: RecordingPreset.available, [PixelFormat.i420, .nv12, .rgb])
  func `a replay copy of a preset says truly whether it is exact`(
    preset: RecordingPreset, format: PixelFormat
  ) throws {
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder, preset: .ffv1)
    options.name = "yard"
    _ = try record(Scene(40, format: format), options: options)
    let path = folder.file("yard").path
    let encoding = try #require(preset.replayEncoding)
    let result = try SessionTranscode(
      of: path,
      .init(target: SessionTarget(into: folder.file("Fast").path), encoding: encoding)
    ).run()
    #expect(result.frames == 40)
    let (old, new) = (try SessionReader(opening: path), try SessionReader(opening: result.path))
    var differing = 0
    for sequence in 0..<40 {
      let id = FrameID(track: 0, sequence: sequence)
      if try old.frame(id).digest != new.frame(id).digest { differing += 1 }
    }
    #expect(result.differingFrames == differing && result.exact == (differing == 0))
    // Recorded in a format that the preset keeps.
    let isKept = preset.format(for: old.tracks[0].format) == old.tracks[0].format
    #expect(!preset.isLossless || !isKept || result.exact)
    #expect(try SessionCheck(path: result.path, decodes: true).run().isHealthy)
  }

  @Test func `what encodes nothing makes no replay copy`() {
    #expect(RecordingPreset.copy.replayEncoding == nil)
  }
}
