import RetakeCore
import RetakeMedia
import RetakeSession

/// Reads an exported media file as an import would, and compares its frames with the session's.
///
/// A muxer can succeed and still write a file that no demuxer reads, or a file that lacks frames.
struct ExportProof {
  let reader: SessionReader
  let track: Int
  let file: String
  /// The exported part's stream, as described by the session.
  let stream: MediaStream
  /// Codec and container, for errors.
  let description: String
  /// Called with the number of packets and frames done; false stops.
  let report: @Sendable (Int) -> Bool

  /// A frame that the file must contain.
  private struct Expected {
    /// nil if the session does not have a pixel hash.
    var digest: Digest128?
    /// The frame fails in the session: a decoder may omit it, or return any pixels.
    var isDamaged: Bool
  }

  /// - Throws: `SessionError.exportDiffers`.
  func check(_ written: WrittenPart) throws {
    let expected = try expected(written)
    // A decoder may omit a damaged frame, and a player may show a frame that an edit list hid. Then
    // only the good frames can be asked for, in order.
    let isWhole = expected.allSatisfy { !$0.isDamaged } && written.hidden == 0
    let found = try decoded(packets: written.packets)
    if isWhole {
      try checkAll(found, expected)
    } else {
      try checkGood(found, expected)
    }
  }

  /// In presentation order.
  private func expected(_ written: WrittenPart) throws -> [Expected] {
    guard let numbers = written.numbers else { return [] }
    var expected: [Expected] = []
    try reader.index.store.eachFramePage(track: track) { rows in
      for row in rows {
        guard let packet = row.packet, numbers.contains(packet) else { continue }
        expected.append(Expected(digest: row.pixelHash, isDamaged: row.cause != nil))
      }
      return true
    }
    return expected
  }

  /// The file's frames, in order of their times.
  private func decoded(packets count: Int) throws -> [DecodedFact] {
    do {
      let (media, stream) = try (MediaFile(path: file), MediaDemuxer(path: file).videoStream())
      let packets =
        try PacketIndexer(file: media, streams: [stream]) { report(min($0, count) / 2) }.run()
        .packets[stream.index] ?? PacketList()
      let table = ImportTable(
        track: stream.index, packets: packets,
        views: [0: SegmentView(file: media, stream: stream)])
      let facts = try TrackDecoding(table: table, memory: ImageMemory()) {
        report(count / 2 + min($0, count) / 2)
      }.run()
      if facts.frames.isEmpty, let refusal = facts.firstRefusal { throw refusal }
      return Self.inTimeOrder(facts.frames)
    } catch let error as MediaError where !error.isAboutMemory {
      // An error of the file that was just written says that the container lost something. A lack
      // of memory says nothing.
      throw differs(error.cause.map { "\(error.message): \($0)" } ?? error.message)
    }
  }

  /// In the order in which a player shows them. An import would keep the decoder's order if times
  /// are wrong.
  private static func inTimeOrder(_ frames: FactList) -> [DecodedFact] {
    var latest = Int64.min
    let times = frames.map { frame in
      latest = frame.pts ?? frame.bestEffort ?? latest
      return latest
    }
    // By place, too, so that frames of one time keep the decoder's order.
    return frames.indices.sorted { (times[$0], $0) < (times[$1], $1) }.map { frames[$0] }
  }

  private func checkAll(_ found: [DecodedFact], _ expected: [Expected]) throws {
    guard found.count == expected.count else {
      throw differs("it has \(counted(found.count, "frame")), not \(expected.count)")
    }
    for (place, (found, expected)) in zip(found, expected).enumerated() {
      // Frames of a recording that was never closed have no digest.
      guard let digest = expected.digest, digest != found.digest else { continue }
      let (size, wanted) = (Self.size(found.shape.width, found.shape.height), streamSize)
      throw differs(
        size == wanted
          ? "the pixels of its frame \(place) are others"
          : "its frame \(place) is \(size), not \(wanted)")
    }
  }

  /// Some containers store a smaller size than the packets have, and others do not store one.
  private var streamSize: String { Self.size(stream.width, stream.height) }

  private static func size(_ width: Int, _ height: Int) -> String { "\(width)x\(height)" }

  /// Checks that every good frame is present, in order; there may be other frames between them.
  private func checkGood(_ found: [DecodedFact], _ expected: [Expected]) throws {
    var rest = found[...]
    for (place, frame) in expected.enumerated() where !frame.isDamaged {
      let match = rest.firstIndex { frame.digest == nil || frame.digest == $0.digest }
      guard let match else { throw differs("it lacks frame \(place), or has other pixels") }
      rest = rest[(match + 1)...]
    }
  }

  private func differs(_ cause: String) -> SessionError {
    .exportDiffers(path: file, form: description, cause: cause, instead: nil)
  }
}
