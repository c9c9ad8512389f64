import Foundation
import RetakeBuffers
import RetakeCore
import RetakeStages
import Testing

@testable import RetakeReplay

/// The faults of a camera as an override, and the frames that a reader with faults has.
@Suite struct CameraFaultTests {
  private static let count = 2_000

  private func reader(_ text: String) throws -> FaultyCameraReader {
    guard case .camera(let faults) = try CaseOverride(parsing: "camera:\(text)") else {
      throw CancellationError()
    }
    let frames = (0..<Self.count).map { sequence in
      Frame(
        id: FrameID(track: 0, sequence: sequence), format: .gray, width: 2, height: 1,
        planes: [[UInt8(sequence % 256), UInt8(sequence / 256)]])
    }
    return try FaultyCameraReader(
      StaticSource(frames, fps: 50).open(), tracks: [0], faults: faults)
  }

  private func entries(_ reader: FaultyCameraReader) throws -> [FrameEntry] {
    // Two pages, to see that a page does not depend on the one before.
    try reader.entries(of: 0, sequences: 0..<700)
      + reader.entries(of: 0, sequences: 700..<Self.count)
  }

  private func lost(_ text: String) throws -> Set<Int> {
    Set(try entries(reader(text)).filter(\.isPayloadMissing).map(\.id.sequence))
  }

  @Test func `the text of an override is read and written`() throws {
    for text in ["drop=10%,seed=1", "drop=0.5%,freeze=300ms,jitter=20ms,seed=7", "seed=0"] {
      let parsed = try CaseOverride(parsing: "camera:\(text)")
      #expect(parsed.text == "camera:\(text)")
      #expect(parsed.key == "camera" && parsed.value == .string(text))
    }
    #expect(
      try CaseOverride(parsing: "camera:jitter=1s,drop=1%").text
        == "camera:drop=1%,jitter=1s,seed=0")
    for text in ["", "drop=10", "drop=101%", "freeze=2s", "jitter=-1ms", "seed=-1", "blur=1"] {
      #expect(throws: ReplayError.self, "\(text)") { try CaseOverride(parsing: "camera:\(text)") }
    }
  }

  @Test func `frames are lost at the rate, and a higher rate loses the same frames and more`()
    throws
  {
    let (few, many) = (try lost("drop=5%,seed=3"), try lost("drop=20%,seed=3"))
    // 2,000 draws: four deviations.
    #expect(abs(few.count - 100) < 40 && abs(many.count - 400) < 72)
    #expect(few.isSubset(of: many))
    #expect(try lost("drop=5%,seed=3") == few && lost("drop=5%,seed=4") != few)
    #expect(try lost("drop=0%,seed=3").isEmpty && lost("drop=100%,seed=3").count == Self.count)
  }

  @Test func `an image freezes once in two seconds, for the time`() throws {
    let reader = try reader("freeze=300ms,seed=2")
    let frozen = (0..<Self.count).filter { reader.isFrozen(FrameID(track: 0, sequence: $0)) }
    // 40 s: 20 freezes of 15 frames, whose first frame is the one that is repeated.
    #expect((20 * 13...20 * 15).contains(frozen.count))
    for sequence in frozen {
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      let before = try reader.frame(FrameID(track: 0, sequence: sequence - 1))
      #expect(frame.digest == before.digest)
    }
    #expect(Set(frozen.map { $0 / 100 }).count == 20)
    #expect(try lost("freeze=300ms,seed=2").isEmpty)
    let longer = try self.reader("freeze=500ms,seed=2")
    #expect(frozen.allSatisfy { longer.isFrozen(FrameID(track: 0, sequence: $0)) })
  }

  @Test func `frames are late by up to the jitter, and keep their order`() throws {
    let plain = try entries(reader("seed=1"))
    let late = try entries(reader("jitter=30ms,seed=1"))
    let delays = zip(plain, late).map { $1.arrival.nanoseconds - $0.arrival.nanoseconds }
    #expect(delays.allSatisfy { (0...30_000_000).contains($0) })
    #expect(delays[0] == 0 && Set(delays).count > 1_900)
    #expect((delays.max() ?? 0) > 29_000_000)
    #expect(
      zip(late, late.dropFirst()).allSatisfy {
        $0.arrival <= $1.arrival && $0.timestamp <= $1.timestamp
      })
    #expect(zip(plain, late).allSatisfy { $0.pts == $1.pts })
  }
}
