import RetakeBuffers
import RetakeCore
import RetakeTimePlane

/// The frames of a session as a camera with faults would have delivered them.
final class FaultyCameraReader: MemoryKeepingReader {
  /// The faults of one track, by sequence.
  private struct Track {
    var times: [(timestamp: Timestamp, arrival: Timestamp)] = []
    var lost: Set<Int> = []
    /// The frame whose image is delivered again.
    var frozen: [Int: Int] = [:]
  }

  private static let pageSize = 1_024

  private let reader: any FrameReader
  private let faulty: [Int: Track]

  /// - Throws: The reader's errors for its index.
  init(_ reader: any FrameReader, tracks: Set<Int>, faults: CameraFaults) throws {
    self.reader = reader
    var faulty: [Int: Track] = [:]
    for track in tracks { faulty[track] = try Self.track(track, of: reader, faults) }
    self.faulty = faulty
  }

  /// Whether the frame's image is not the recorded one.
  func isFrozen(_ id: FrameID) -> Bool { faulty[id.track]?.frozen[id.sequence] != nil }

  private static func track(
    _ number: Int, of reader: any FrameReader, _ faults: CameraFaults
  ) throws -> Track {
    let count = reader.tracks.first { $0.track == number }?.frameCount ?? 0
    var track = Track()
    var first: Int64?
    var freeze: (span: Int64, source: Int)?
    func draw(_ sequence: Int, _ item: Int) -> UInt64 {
      Draw.bits(
        seed: faults.seed, node: UInt64(number), sequence: sequence, item: item,
        purpose: .perturbation)
    }
    for start in stride(from: 0, to: count, by: pageSize) {
      let end = min(start + pageSize, count)
      for entry in try reader.entries(of: number, sequences: start..<end) {
        let sequence = entry.id.sequence
        // Of 100,000 draws, as many are lost as there are thousandths of a percent.
        if draw(sequence, 0).multipliedFullWidth(by: 100_000).high < UInt64(faults.drop) {
          track.lost.insert(sequence)
        }
        let last = track.times.last
        // The first frame is on time: virtual time begins with it.
        let late =
          last == nil
          ? 0
          : Int64(
            draw(sequence, 1).multipliedFullWidth(by: UInt64(faults.jitter.nanoseconds) + 1).high)
        track.times += Array(
          repeating: (entry.timestamp, entry.arrival), count: sequence - track.times.count)
        // A camera never delivers a frame before an earlier one.
        track.times.append(
          (
            max(entry.timestamp.shifted(late), last?.timestamp ?? entry.timestamp),
            max(entry.arrival.shifted(late), last?.arrival ?? entry.arrival)
          ))
        guard entry.damage == nil, !entry.isPayloadMissing else { continue }
        let time = entry.timestamp.nanoseconds - (first ?? entry.timestamp.nanoseconds)
        first = first ?? entry.timestamp.nanoseconds
        let span = max(time, 0) / CameraFaults.freezeEvery
        let begin = Int64(draw(Int(span), 2) % UInt64(CameraFaults.freezeEvery / 2))
        let inSpan = time - span * CameraFaults.freezeEvery
        guard (begin..<begin + faults.freeze.nanoseconds).contains(inSpan) else { continue }
        if let freeze, freeze.span == span {
          track.frozen[sequence] = freeze.source
        } else {
          freeze = (span, sequence)
        }
      }
    }
    return track
  }

  var tracks: [TrackDescription] { reader.tracks }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    let entries = try reader.entries(of: track, sequences: sequences)
    guard let faults = faulty[track] else { return entries }
    return entries.map { entry in
      var entry = entry
      let sequence = entry.id.sequence
      (entry.timestamp, entry.arrival) = faults.times[sequence]
      if faults.lost.contains(sequence) { entry.isPayloadMissing = true }
      return entry
    }
  }

  /// The frame that is read for another frame.
  private func source(of id: FrameID) -> FrameID {
    FrameID(track: id.track, sequence: faulty[id.track]?.frozen[id.sequence] ?? id.sequence)
  }

  func chain(of id: FrameID) -> Int { reader.chain(of: source(of: id)) }

  func frame(_ id: FrameID) throws -> Frame { try reader.frame(source(of: id)) }

  func deviceEvents() throws -> [TimedDeviceEvent] { try reader.deviceEvents() }

  var sensorReader: (any SensorReader)? { reader.sensorReader }

  func keepMemory(forFrames count: Int) {
    (reader as? any MemoryKeepingReader)?.keepMemory(forFrames: count)
  }
}

extension Timestamp {
  fileprivate func shifted(_ nanoseconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: self.nanoseconds.addingReportingOverflow(nanoseconds).partialValue)
  }
}
