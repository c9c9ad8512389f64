import RetakeCore
import RetakeMedia
import RetakeStore

/// Checks the packets of one track against the media, one after another.
final class PacketCheck {
  struct Damage: Hashable {
    /// One packet, or several if their rows are missing.
    var packets: ClosedRange<Int>
    /// Relative to the session's folder, if known.
    var file: String?
    /// Includes the verb: `is damaged: …`.
    var cause: String
    /// The cause for several packets.
    var plural: String { cause.hasPrefix("is ") ? "are " + cause.dropFirst(3) : cause }
    /// Topic of the finding: `packet`, `media` or `gap`.
    var topic: String
  }

  private let reader: SessionReader
  private let table: IndexedTrack
  private var fetcher: PacketFetcher
  /// Files that are missing or cannot be opened, with the reason; they are not tried again.
  private var missing: [String: String] = [:]
  private(set) var headers = TrackHeaders()

  init(reader: SessionReader, track: Int) {
    self.reader = reader
    table = IndexedTrack(index: reader.index, track: track)
    fetcher = PacketFetcher(table: table)
  }

  /// Finds the damage of the track's packets, in their order.
  ///
  /// - Parameters:
  ///   - end: One more than the highest packet.
  ///   - tell: Called for each packet that was checked.
  /// - Throws: errors other than damage of the media or of a row, and any error that `tell` throws.
  func damages(
    before end: Int, tell: (Int) throws -> Void
  ) throws -> [Damage] {
    var damages: [Damage] = []
    var packet = 0
    while packet < end {
      var next = packet + 1
      if var damage = try damage(of: packet) {
        // A row with a very high index would make the loop walk a gap almost forever, so a gap is
        // one finding.
        if damage.topic == "gap" {
          let found = try? reader.index.store.firstPacket(
            track: table.track, atOrAfter: packet)
          next = max(next, found ?? end)
          damage.packets = packet...next - 1
        }
        damages.append(damage)
      }
      try tell(packet)
      packet = next
    }
    headers.finish()
    return damages
  }

  /// The numbers of damaged packets, in ascending order. Of a very long gap, only its first and
  /// last.
  static func numbers(_ damages: [Damage]) -> [Int] {
    damages.flatMap { damage in
      damage.packets.count <= gapMax
        ? Array(damage.packets) : [damage.packets.lowerBound, damage.packets.upperBound]
    }
  }

  private static let gapMax = 65_536

  /// The damage of a packet, or nil.
  private func damage(of packet: Int) throws -> Damage? {
    var file: String?
    do {
      file = try table.packet(packet).flatMap { reader.index.segments[$0.segment]?.file }
      if let file, let cause = missing[file] {
        return Damage(packets: packet...packet, file: file, cause: cause, topic: "media")
      }
      guard let (media, view) = try fetcher.packet(packet) else {
        return Damage(packets: packet...packet, file: file, cause: "has no row", topic: "gap")
      }
      headers.add(media, of: view)
      return nil
    } catch let error as any RetakeError {
      // The demuxer's position is not known after an error.
      fetcher = PacketFetcher(table: table)
      switch error {
      case _ where error.isAboutMemory: throw error
      case SessionError.mediaMismatch(_, _, _, _, let cause):
        return Damage(
          packets: packet...packet, file: file, cause: "is damaged: \(cause)", topic: "packet")
      case SessionError.mediaSize:
        // The file is not asked again, and its other packets fold into this finding.
        let cause = "is not read: \(error.message)"
        if let file { missing[file] = cause }
        return Damage(packets: packet...packet, file: file, cause: cause, topic: "media")
      case SessionError.mediaMissing:
        let cause = "cannot be read: \(file ?? "the media file") is missing"
        if let file { missing[file] = cause }
        return Damage(packets: packet...packet, file: file, cause: cause, topic: "media")
      case is MediaError:
        let cause = "cannot be read: \(error.message)" + (error.cause.map { " (\($0))" } ?? "")
        if let file { missing[file] = cause }
        return Damage(packets: packet...packet, file: file, cause: cause, topic: "media")
      case is StoreError:
        return Damage(
          packets: packet...packet, file: "session.sqlite",
          cause: "has a damaged row: \(error.cause ?? error.message)", topic: "row")
      default: throw error
      }
    }
  }

  /// Merges damage of the same kind to consecutive packets. The first packet's cause is kept.
  static func folded(_ damages: [Damage]) -> [Damage] {
    var result: [Damage] = []
    for damage in damages {
      if let last = result.last, last.packets.upperBound + 1 == damage.packets.lowerBound,
        last.file == damage.file, last.topic == damage.topic
      {
        result[result.count - 1].packets = last.packets.lowerBound...damage.packets.upperBound
      } else {
        result.append(damage)
      }
    }
    return result
  }
}

/// Consecutive frames that fail for the same reason.
struct FrameStretch: Hashable {
  var first: Int
  var last: Int
  var cause: String

  static func stretches(_ frames: [(sequence: Int, cause: String)]) -> [FrameStretch] {
    var stretches: [FrameStretch] = []
    for frame in frames {
      if let last = stretches.last, last.last + 1 == frame.sequence, last.cause == frame.cause {
        stretches[stretches.count - 1].last = frame.sequence
      } else {
        stretches.append(
          FrameStretch(first: frame.sequence, last: frame.sequence, cause: frame.cause))
      }
    }
    return stretches
  }

  func range(of track: Int) -> ClosedRange<FrameID> {
    FrameID(track: track, sequence: first)...FrameID(track: track, sequence: last)
  }
}
