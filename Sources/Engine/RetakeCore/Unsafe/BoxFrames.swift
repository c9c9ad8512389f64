/// The frames of a block that contains only detections, at one sink. The flat lists reuse their
/// memory from block to block. A long comparison reads mostly such blocks.
package struct BoxFrames: Sendable {
  package struct Entry: Sendable {
    package var id: FrameID
    /// In the track's time base; `nil` if the frame had no presentation time.
    package var pts: Int64?
    /// The range of the frame's detections in `BoxFrames.boxes`.
    package var boxes: Range<Int>
  }

  package private(set) var entries: [Entry] = []
  package private(set) var boxes: [DetectionLine] = []

  package init() {}

  /// Reads a block.
  ///
  /// - Returns: Whether the block could be read. If the block has other lines, or a line that does
  ///   not follow the grammar, the caller reads it with `ResultChunk.frames(of:)`, which reports
  ///   the error.
  package mutating func read(_ block: ResultChunk.Block, of chunk: ResultChunk) -> Bool {
    entries.removeAll(keepingCapacity: true)
    boxes.removeAll(keepingCapacity: true)
    // `frame(_:)` attributes every box to sink 0, which is right only if the header has one sink.
    guard block.holdsBoxesAlone, chunk.header.sinks.count == 1 else { return false }
    // An F line names its track only if the header has several.
    let track = chunk.header.tracks.first?.index ?? 0
    // SAFETY: the chunk holds the bytes while the cursor reads within the block's range.
    return chunk.bytes.withUnsafeBufferPointer { bytes in
      guard var cursor = ByteCursor(bytes, block.bytes) else { return false }
      while !cursor.isAtEnd {
        guard readLine(&cursor, track) else { return false }
      }
      return true
    }
  }

  private mutating func readLine(_ cursor: inout ByteCursor, _ track: Int) -> Bool {
    if cursor.skip(UInt8(ascii: "D")) {
      // A D line before the first F line belongs to no frame; the other reader reports it.
      guard cursor.skipSpace(), !entries.isEmpty, let line = DetectionLine(&cursor) else {
        return false
      }
      boxes.append(line)
      entries[entries.count - 1].boxes = entries[entries.count - 1].boxes.lowerBound..<boxes.count
    } else {
      guard cursor.skip(UInt8(ascii: "F")), cursor.skipSpace(),
        let entry = entry(&cursor, track)
      else { return false }
      entries.append(entry)
    }
    return cursor.skip(UInt8(ascii: "\n"))
  }

  private func entry(_ cursor: inout ByteCursor, _ headerTrack: Int) -> Entry? {
    guard var sequence = cursor.integer() else { return nil }
    var track = headerTrack
    if cursor.skip(UInt8(ascii: ":")) {
      track = sequence
      guard let rank = cursor.integer() else { return nil }
      sequence = rank
    }
    guard cursor.skipSpace() else { return nil }
    let id = FrameID(track: track, sequence: sequence)
    if cursor.skipLoneDash() {
      return Entry(id: id, pts: nil, boxes: boxes.count..<boxes.count)
    }
    guard let pts = cursor.integer() else { return nil }
    return Entry(id: id, pts: Int64(pts), boxes: boxes.count..<boxes.count)
  }

  /// A frame in the form that `ResultChunk.frames(of:)` returns.
  package func frame(_ index: Int) -> ResultFrame {
    let entry = entries[index]
    let lines = boxes[entry.boxes].map { ResultLine.detection($0) }
    return ResultFrame(id: entry.id, pts: entry.pts, outcomes: [.init(sink: 0, lines: lines)])
  }
}

extension ByteCursor {
  /// Skips a `-` that ends its line.
  fileprivate mutating func skipLoneDash() -> Bool {
    var copy = self
    guard copy.skip(UInt8(ascii: "-")) else { return false }
    // The line end is only looked at: `readLine` skips it. Without it, `-` is the sign of a time.
    let afterDash = copy
    guard copy.skip(UInt8(ascii: "\n")) else { return false }
    self = afterDash
    return true
  }
}
