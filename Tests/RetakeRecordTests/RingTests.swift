import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// The pre-trigger ring and its memory.
@Suite struct RingTests {
  /// Frames at 10 per second, of 100 bytes each; `k` can be decoded alone, `p` depends on the
  /// previous one.
  private func ring(_ input: String, seconds: Int64, bytesMax: Int) throws -> PreTriggerRing {
    var ring = PreTriggerRing(nanoseconds: seconds * 1_000_000_000, bytesMax: bytesMax)
    let stream = MediaStream(
      video: "mjpeg", width: 64, height: 48, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, sampleAspect: .square, timeBase: TimeBase(1, 10))
    let epoch = StreamEpoch(number: 0, stream: stream, shape: "64x48")
    for (number, kind) in input.enumerated() {
      let packet = try MediaPacket(
        index: number, pts: Int64(number), dts: nil, flags: kind == "k" ? .key : [],
        bytes: [UInt8](repeating: 7, count: 100))
      let record = FrameRecord(
        track: 0, sequence: number, pts: Int64(number), ptsNanoseconds: Int64(number) * 100_000_000,
        arrivalNanoseconds: Int64(number) * 100_000_000, packet: nil)
      ring.add(.frame(record, EncodedFrame(epoch: epoch, packet: packet, pixelHash: nil)))
    }
    return ring
  }

  private func sequences(_ ring: PreTriggerRing) -> [Int] {
    var ring = ring
    return ring.take().compactMap { row in
      if case .frame(let record, _) = row { record.sequence } else { nil }
    }
  }

  @Test func `it keeps the time that was asked for, from a frame that can be decoded alone`() throws
  {
    let kept = try ring("kppppkppppkppppkpppp", seconds: 1, bytesMax: 10_000)
    #expect(sequences(kept) == Array(5..<20) && kept.passedFrames == 5 && !kept.isShort)
  }

  @Test func `where its bytes are not enough it reaches back less far, and says so`() throws {
    let kept = try ring("kppppkppppkppppkpppp", seconds: 1, bytesMax: 700)
    #expect(sequences(kept) == Array(15..<20) && kept.isShort)
  }

  @Test func `a source without key frames does not fill the memory`() throws {
    let input = "k" + String(repeating: "p", count: 400)
    for length in stride(from: 1, through: input.count, by: 7) {
      let kept = try ring(String(input.prefix(length)), seconds: 1_000, bytesMax: 1_000)
      #expect(kept.frameCount <= 20)
      #expect(kept.isShort == (length > 20) && kept.passedFrames + kept.frameCount == length)
    }
  }

  private func options(_ folder: TemporaryFolder, ringBytes: Int) -> RecorderOptions {
    var options = RecorderOptions.test(folder, preset: .mjpeg)
    (options.pace, options.ring, options.ringBytesMax) = (.realtime, .seconds(30), ringBytes)
    return options
  }

  @Test func `a ring that cannot hold its time is refused before anything is recorded`() throws {
    let folder = try TemporaryFolder()
    var options = options(folder, ringBytes: 100_000)
    options.probe = .refuse
    let recorder = try Recorder(try Scene(60).source, options: options)
    let error = #expect(throws: RecordError.self) { _ = try recorder.run() }
    #expect(error?.code == "record.ring.tooSmall")
    #expect(error?.message.contains("a ring of 30.0 s takes about") == true)
    #expect(error?.advice?.contains("--ring-memory") == true)
    #expect(try folder.entries == [])
  }

  @Test func `a ring that becomes too small says so once`() throws {
    let folder = try TemporaryFolder()
    var options = options(folder, ringBytes: 10_000)
    (options.pace, options.probe) = (.unpaced, .skip)
    let reports = Reports()
    let found = code {
      try record(Scene(200), options: options) { reports.add($0) }
    }
    #expect(found == "record.ring.notTriggered")
    #expect(reports.all.map(\.ringIsShort) == [true])
  }
}
