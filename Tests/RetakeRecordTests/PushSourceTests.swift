import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Frames that an app pushes.
@Suite struct PushSourceTests {
  private func frame(_ number: Int) -> Frame {
    var frame = Scene(number + 1).frame(FrameID(track: 0, sequence: number))
    frame.timestamp = Timestamp(nanoseconds: Int64(number) * 33_000_000)
    return frame
  }

  @Test func `frames that came while the encoder was measured are recorded with the others`() throws
  {
    let folder = try TemporaryFolder()
    let source = PushSource(name: "app", framesPerSecond: 30)
    for number in 0..<40 { #expect(source.push(frame(number))) }
    source.finish()
    var options = RecorderOptions.test(folder, preset: .ffv1)
    (options.pace, options.probe, options.waitingFramesMax) = (.realtime, .warn, 64)
    options.waitingDurationMax = .seconds(600)
    let result = try Recorder(source, options: options, machine: .init()).run()
    #expect(result.probe?.needed == 30)
    #expect(result.status == .clean && result.progress.frames.recorded == 40)
    let times = try StoredFrames(result.folder.path).all.map(\.ptsNanoseconds)
    #expect(times == (0..<40).map { $0 * 33_000_000 })
  }

  @Test func `a frame that finds no room is refused, counted and told in the session`() throws {
    let folder = try TemporaryFolder()
    let source = PushSource(name: "app", waitingMax: 4)
    #expect((0..<6).map { source.push(frame($0)) } == [true, true, true, true, false, false])
    source.finish()
    let result = try Recorder(source, options: .test(folder), machine: .still()).run()
    #expect(result.progress.frames.captured == 4 && source.refused == 2)
    let events = try StoredFrames(result.folder.path).events
    #expect(events.map(\.kind) == ["source.refused"] && events[0].json == #"{"frames":2}"#)
    #expect(!source.push(frame(9)) && source.refused == 3)
    #expect(!source.waitForRoom())
  }
}
