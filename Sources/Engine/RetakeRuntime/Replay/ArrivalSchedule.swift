package import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The frames of one source in the order in which they arrive, read from the index in pages.
package struct ArrivalSchedule {
  /// Index rows in memory at once.
  static let pageSize = 1_024

  private let reader: any FrameReader
  private let track: Int
  private let frameCount: Int
  private let mode: RunOptions.Mode
  private let originNanoseconds: Int64
  /// By arrival; set only if the track's frames do not arrive in the order of their sequence.
  private let order: [Arrival]?
  private var page: [FrameEntry] = []
  private var position = 0
  private var next = 0
  private(set) var payloadMissing = 0
  /// The lowest sequence that may still arrive after the frame that was returned last.
  private(set) var lowestToCome = 0

  private struct Arrival {
    var sequence: Int
    /// The lowest sequence of the frames that arrive after it.
    var lowestToCome = Int.max
  }

  /// - Throws: The reader's errors for its index.
  package init(
    reader: any FrameReader, track: Int, mode: RunOptions.Mode, originNanoseconds: Int64
  ) throws {
    self.reader = reader
    self.track = track
    self.mode = mode
    self.originNanoseconds = originNanoseconds
    frameCount = reader.tracks.first { $0.track == track }?.frameCount ?? 0
    order = try Self.order(reader: reader, track: track, count: frameCount, mode: mode)
  }

  /// The smallest presentation time of a track; `nil` if it has no frames.
  package static func start(of track: Int, in reader: any FrameReader) throws -> Int64? {
    try reader.entries(of: track, sequences: 0..<1).first?.timestamp.nanoseconds
  }

  /// When the last frame of a track arrives; `nil` if it has no frames. Frames that arrive in
  /// another order are expected to do so within a page.
  package static func end(
    of track: Int, in reader: any FrameReader, mode: RunOptions.Mode
  ) throws -> Int64? {
    let count = reader.tracks.first { $0.track == track }?.frameCount ?? 0
    return try reader.entries(of: track, sequences: max(0, count - pageSize)..<count)
      .map { time(of: $0, mode: mode) }.max()
  }

  /// The length, the rate and the rotation of a track.
  static func outline(of track: Int, in reader: any FrameReader) throws -> RunTrack {
    let description = reader.tracks.first { $0.track == track }
    let count = description?.frameCount ?? 0
    var rate = 0.0
    if let start = try start(of: track, in: reader),
      let end = try end(of: track, in: reader, mode: .everyFrame), end > start
    {
      rate = Double(count - 1) * 1e9 / Double(end - start)
    }
    return RunTrack(
      track: track, frameCount: count, frameRate: rate,
      rotationDegrees: description?.rotationDegrees ?? 0)
  }

  /// The frame that arrives next, with its virtual time. Frames without payload are counted and
  /// skipped.
  package mutating func nextFrame() throws -> (entry: FrameEntry, time: Int64)? {
    while let entry = try nextEntry() {
      if entry.isPayloadMissing {
        payloadMissing += 1
        continue
      }
      return (entry, Self.time(of: entry, mode: mode) - originNanoseconds)
    }
    return nil
  }

  private mutating func nextEntry() throws -> FrameEntry? {
    if let order {
      guard next < order.count else { return nil }
      defer { next += 1 }
      let sequence = order[next].sequence
      lowestToCome = order[next].lowestToCome
      return try reader.entries(of: track, sequences: sequence..<sequence + 1).first
    }
    if position == page.count {
      // Bounded: by the frame count. Each turn advances by a page; a page may be empty.
      repeat {
        guard next < frameCount else { return nil }
        let end = min(next + Self.pageSize, frameCount)
        page = try reader.entries(of: track, sequences: next..<end)
        position = 0
        next = end
      } while page.isEmpty
    }
    defer { position += 1 }
    lowestToCome = page[position].id.sequence + 1
    return page[position]
  }

  private static func check(_ entry: FrameEntry) throws(RuntimeError) {
    for time in [entry.timestamp.nanoseconds, entry.arrival.nanoseconds]
    where time.magnitude > EventKey.nanosecondsMax.magnitude {
      throw .timeOutOfRange(entry.id, nanoseconds: time)
    }
  }

  private static func time(of entry: FrameEntry, mode: RunOptions.Mode) -> Int64 {
    mode == .everyFrame ? entry.timestamp.nanoseconds : entry.arrival.nanoseconds
  }

  private static func order(
    reader: any FrameReader, track: Int, count: Int, mode: RunOptions.Mode
  ) throws -> [Arrival]? {
    var times: [Int64] = []
    var sequences: [Int] = []
    var isSorted = true
    times.reserveCapacity(count)
    for start in stride(from: 0, to: count, by: pageSize) {
      let page = try reader.entries(of: track, sequences: start..<min(start + pageSize, count))
      for entry in page {
        let time = time(of: entry, mode: mode)
        try check(entry)
        if let last = times.last, time < last { isSorted = false }
        times.append(time)
        sequences.append(entry.id.sequence)
      }
    }
    guard !isSorted else { return nil }
    // Of frames that arrive at one time, the lower sequence is first, as in the keys of arrivals.
    var order = times.indices
      .sorted { (times[$0], sequences[$0]) < (times[$1], sequences[$1]) }
      .map { Arrival(sequence: sequences[$0]) }
    for place in order.indices.dropLast().reversed() {
      let later = order[place + 1]
      order[place].lowestToCome = min(later.sequence, later.lowestToCome)
    }
    return order
  }
}
