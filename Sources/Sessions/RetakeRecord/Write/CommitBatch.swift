import RetakeStore

/// The rows between two commits.
struct CommitBatch {
  /// The new segment, if one began since the last commit.
  var segment: SegmentRecord?
  var segmentTrack: SegmentTrackRecord?
  /// Earlier segments that changed.
  var changedSegments: [SegmentRecord] = []
  private(set) var packets: [PacketRecord] = []
  /// Total of all packets.
  private(set) var packetBytes: Int64 = 0
  var frames: [FrameRecord] = []
  var events: [EventRecord] = []
  /// Rows of the live pipeline.
  var runs = RunRows()

  var isEmpty: Bool { rowCount == 0 }

  mutating func add(_ packet: PacketRecord) {
    packets.append(packet)
    packetBytes += Int64(packet.size)
  }

  /// Sets the offsets of the packets in these rows.
  mutating func place(_ offsets: [Int64?], rows: [Int]) {
    for (row, offset) in zip(rows, offsets) { packets[row].offset = offset }
  }

  var rowCount: Int {
    frames.count + events.count + packets.count + changedSegments.count + (segment == nil ? 0 : 1)
      + runs.count
  }

  /// The media of the track's packets in the batch is lost: their frames keep their rows.
  ///
  /// - Returns: the number of frames that lost their pixels.
  mutating func losePackets(of track: Int, cause: String) -> Int {
    var count = 0
    for place in frames.indices
    where frames[place].track == track && frames[place].packet != nil {
      // A row with a packet but without its bytes would be read as damage; this one says why.
      frames[place].packet = nil
      frames[place].entry = nil
      frames[place].pixelHash = nil
      frames[place].cause = cause
      count += 1
    }
    packets.removeAll { $0.track == track }
    packetBytes = packets.reduce(0) { $0 + Int64($1.size) }
    // A segment that was never committed leaves no row. The new segment of another track stays.
    if segmentTrack?.track == track { (segment, segmentTrack) = (nil, nil) }
    return count
  }

  func append(to store: StoreWriter) {
    store.append([segment].compactMap(\.self))
    store.append([segmentTrack].compactMap(\.self))
    for changed in changedSegments { store.replace(changed) }
    store.append(packets)
    store.append(frames)
    store.append(events)
    runs.append(to: store)
  }
}

extension SegmentTrackRecord {
  init(segment: Int, track: Int, epoch: StreamEpoch) {
    let stream = epoch.stream
    self.init(
      segment: segment, track: track, streamIndex: 0, codec: stream.storedCodec,
      profile: stream.profile, extradata: stream.extradata.isEmpty ? nil : stream.extradata,
      width: stream.width, height: stream.height, pixelFormat: stream.pixelFormatName,
      range: stream.range.rawValue, matrix: stream.matrix.rawValue,
      rotationDegrees: stream.rotationDegrees,
      aspectNumerator: Int(stream.sampleAspect.numerator),
      aspectDenominator: Int(stream.sampleAspect.denominator), timeBase: stream.timeBase,
      delay: stream.delay)
  }
}
