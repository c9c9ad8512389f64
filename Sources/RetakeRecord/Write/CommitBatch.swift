import RetakeCore
import RetakeStore

/// The rows between two commits.
struct CommitBatch {
  /// The new segment, if one began since the last commit.
  var segment: SegmentRecord?
  var segmentTrack: SegmentTrackRecord?
  /// Earlier segments that changed.
  var changedSegments: [SegmentRecord] = []
  var packets: [PacketRecord] = []
  var frames: [FrameRecord] = []
  var events: [EventRecord] = []
  /// Of the pipeline that runs beside the recorder.
  var runs = RunRows()

  var isEmpty: Bool { rowCount == 0 }

  var rowCount: Int {
    frames.count + events.count + packets.count + changedSegments.count + (segment == nil ? 0 : 1)
      + runs.count
  }

  /// The media of all packets in the batch is gone: their frames keep their rows.
  ///
  /// - Returns: how many frames lost their pixels.
  mutating func losePackets(cause: String) -> Int {
    var count = 0
    for place in frames.indices where frames[place].packet != nil {
      frames[place].packet = nil
      frames[place].entry = nil
      frames[place].pixelHash = nil
      frames[place].cause = cause
      count += 1
    }
    packets = []
    segment = nil
    segmentTrack = nil
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
