import RetakeCore
import RetakeMedia
import RetakeStore
import Testing

@testable import RetakeRecord

@Suite struct LiveDecisionTests {
  private let second: Int64 = 1_000_000_000

  private func watch(patience: Duration? = nil, framesPerSecond: Double? = 30) -> SourceWatch {
    SourceWatch(
      .init(framesPerSecond: framesPerSecond, patience: patience), nowNanoseconds: 0)
  }

  @Test func `a silent source is noticed within two seconds, once, and its return says how long`() {
    var watch = watch()
    #expect(watch.frame(atNanoseconds: second) == nil)
    #expect(
      watch.step(nowNanoseconds: 2 * second, callNanoseconds: nil)
        == .wait(untilNanoseconds: second + 1_500_000_000))
    #expect(watch.step(nowNanoseconds: 3 * second, callNanoseconds: nil) == .note(.stalled))
    #expect(
      watch.step(nowNanoseconds: 4 * second, callNanoseconds: nil)
        == .wait(untilNanoseconds: .max))
    #expect(
      watch.frame(atNanoseconds: 9 * second)
        == .back(gapNanoseconds: 8 * second, attempts: 0))
    #expect(watch.frame(atNanoseconds: 10 * second) == nil)
  }

  @Test func `a slow source is not called silent between its frames`() {
    let slow = watch(framesPerSecond: 0.5)
    #expect(slow.limits.noticeNanoseconds == 6 * second)
    #expect(watch(framesPerSecond: nil).limits.noticeNanoseconds < 2 * second)
  }

  @Test func `a lost source is told once, with the attempts at its return`() {
    var watch = watch()
    #expect(watch.lost("unplugged") == .lost(cause: "unplugged"))
    #expect(watch.lost("no device") == nil)
    #expect(watch.lost("no device") == nil)
    #expect(
      watch.frame(atNanoseconds: second) == .back(gapNanoseconds: second, attempts: 3))
  }

  @Test func `a call that never comes back is left alone, and not for ever`() {
    var watch = watch()
    _ = watch.lost("away")
    for _ in 0..<SourceWatch.abandonedMax {
      #expect(watch.step(nowNanoseconds: 6 * second, callNanoseconds: 0) == .abandon)
    }
    var other = watch
    #expect(
      other.frame(atNanoseconds: 7 * second)
        == .back(gapNanoseconds: 7 * second, attempts: 1 + SourceWatch.abandonedMax))
    guard case .giveUp = watch.step(nowNanoseconds: 6 * second, callNanoseconds: 0) else {
      Issue.record("each call that is left alone keeps a thread")
      return
    }
  }

  @Test func `patience ends with its cause`() {
    var watch = watch(patience: .seconds(60))
    _ = watch.lost("unplugged")
    #expect(
      watch.step(nowNanoseconds: 59 * second, callNanoseconds: nil)
        == .wait(untilNanoseconds: 60 * second))
    #expect(
      watch.step(nowNanoseconds: 60 * second, callNanoseconds: nil)
        == .giveUp(cause: "unplugged"))
  }

  @Test func `attempts come later each time, up to five seconds, and soon again after a frame`() {
    var backOff = BackOff()
    #expect(
      (0..<7).map { _ in backOff.next() / 1_000_000 } == [
        250, 500, 1_000, 2_000, 4_000, 5_000, 5_000,
      ])
    backOff.reset()
    #expect(backOff.next() == 250_000_000)
  }

  @Test func `a source that comes back goes on in time where it arrived`() {
    var line = LiveTimeline(timeBase: TimeBase(1, 90_000))
    let first = line.place(nanoseconds: 7 * second, pts: 630_000, connection: 0, arrival: 100)
    #expect(first.nanoseconds == 7 * second && first.pts == 630_000)
    let next = line.place(
      nanoseconds: 8 * second, pts: 720_000, connection: 0, arrival: 100 + second)
    #expect(next.nanoseconds == 8 * second && next.pts == 720_000)
    let back = line.place(nanoseconds: 0, pts: 0, connection: 1, arrival: 100 + 4 * second)
    #expect(back.nanoseconds == 11 * second && back.pts == 990_000)
    let without = line.place(nanoseconds: nil, pts: nil, connection: 1, arrival: 100 + 5 * second)
    #expect(without.nanoseconds == 12 * second && without.pts == nil)
  }

  @Test(arguments: [
    ("60s", SegmentLimit.duration(.seconds(60))), ("10m", .duration(.seconds(600))),
    ("500MB", .bytes(500_000_000)), ("2GiB", .bytes(2 << 30)),
    ("1500ms", .duration(.milliseconds(1_500))),
  ])
  func `a segment ends after a time or a size`(text: String, limit: SegmentLimit) {
    #expect(SegmentLimit(parsing: text) == limit)
  }

  @Test(arguments: ["", "60", "s", "0s", "-5s", "500ms", "1KB", "9999999999999999GB", "5 MB", "1h"])
  func `other segments are refused`(text: String) {
    #expect(SegmentLimit(parsing: text) == nil)
  }

  /// Frames as `k` (key) or `p`, one second and 10 bytes each, `e` an event; returns the content of
  /// the ring at the end.
  private func ring(_ input: String, seconds: Int64, bytesMax: Int = 1_000) throws -> PreTriggerRing
  {
    var ring = PreTriggerRing(nanoseconds: seconds * second, bytesMax: bytesMax)
    let stream = MediaStream(
      video: "mpeg4", width: 2, height: 2, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, timeBase: TimeBase(1, 1))
    for (place, kind) in input.enumerated() {
      let time = Int64(place) * second
      guard kind != "e" else {
        ring.add(
          .event(
            EventRecord(
              ordinal: 0, timeNanoseconds: time, source: "app", kind: "\(place)", json: "{}")))
        continue
      }
      let packet = try MediaPacket(
        index: place, pts: 0, dts: 0, flags: kind == "k" ? .key : [],
        bytes: [UInt8](repeating: 1, count: 10))
      ring.add(
        .frame(
          FrameRecord(
            track: 0, sequence: place, pts: 0, ptsNanoseconds: time, arrivalNanoseconds: time,
            packet: nil),
          EncodedFrame(
            epoch: StreamEpoch(number: 0, stream: stream, shape: ""), packet: packet)))
    }
    return ring
  }

  private func kept(_ ring: PreTriggerRing) -> [String] {
    var ring = ring
    return ring.take().map {
      switch $0 {
      case .event(let event): "e\(event.kind)"
      case .frame(let record, _): "\(record.sequence)"
      case .run, .compared: "run"
      }
    }
  }

  @Test func `the ring keeps at least what it promises, from a key frame on`() throws {
    let ring = try ring("kppkppkppkp", seconds: 4)
    #expect(kept(ring) == ["6", "7", "8", "9", "10"])
    #expect(ring.passedFrames == 6 && !ring.isShort)
    #expect(kept(try self.ring("kppkp", seconds: 4)).count == 5, "all of it is not longer")
  }

  @Test func `events outlive the frames that leave the ring`() throws {
    #expect(kept(try ring("kepkpkpkp", seconds: 2)).prefix(3) == ["e1", "5", "6"])
  }

  @Test func `a ring without room says that it is short`() throws {
    let ring = try ring("kpkpkpkp", seconds: 100, bytesMax: 40)
    #expect(kept(ring) == ["4", "5", "6", "7"])
    #expect(ring.isShort)
  }

  @Test func `the rate and the minutes left come from the last commits`() {
    var meter = RateMeter()
    #expect(meter.rate(nowNanoseconds: 0, frames: 0, bytes: 0, roomBytes: 100) == nil)
    let rate = meter.rate(
      nowNanoseconds: 2 * second, frames: 60, bytes: 2_000_000, roomBytes: 120_000_000)
    #expect(rate == RecordingRate(framesPerSecond: 30, bytesPerSecond: 1_000_000, minutesLeft: 2))
    #expect(
      meter.rate(nowNanoseconds: 4 * second, frames: 120, bytes: 2_000_000, roomBytes: nil)?
        .minutesLeft == nil)
  }
}
