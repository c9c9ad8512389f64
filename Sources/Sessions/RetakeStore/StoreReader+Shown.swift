import Foundation
import GRDB
import RetakeCore

/// The ranks of frames within their packets, computed on first use.
final class DerivedShown: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `lock`.
  private let lock = NSLock()
  private var known: [FrameID: Int]?

  var ranks: [FrameID: Int]? {
    get { lock.withLock { known } }
    set { lock.withLock { known = newValue } }
  }
}

/// Determines which picture of its packet a frame is, if the schema does not store it.
extension StoreReader {
  /// For an older schema, the frames that are not their packet's first, with their rank. It scans
  /// all frames once.
  func shownRanks() throws -> [FrameID: Int] {
    guard schemaVersion < Schema.firstVersionWithShown else { return [:] }
    if let known = derivedShown.ranks { return known }
    // Two threads may compute this at the same time; they find the same, so the last one wins.
    let found = try read { database in
      // SQLite groups all rows before it returns the first, and a damaged table may have no end.
      _ = try boundedCount(of: FrameRecord.table.name, in: database)
      let walk = try RowWalk(
        """
        SELECT frame.track, frame.packet, frame.sequence FROM frame
        JOIN (
          SELECT track, packet FROM frame WHERE packet IS NOT NULL
          GROUP BY track, packet HAVING count(*) > 1
        ) AS several ON several.track = frame.track AND several.packet = frame.packet
        ORDER BY frame.track, frame.packet, frame.sequence
        """, in: database)
      var ranks: [FrameID: Int] = [:]
      var last: (track: Int, packet: Int, rank: Int)?
      while try walk.next() {
        var reader = RowReader(walk, of: FrameRecord.table)
        let (track, packet) = (try reader.count(), try reader.count())
        let id = FrameID(track: track, sequence: try reader.count())
        guard let before = last, before.track == track, before.packet == packet else {
          last = (track, packet, 0)
          continue
        }
        // A damaged table may have no end.
        guard ranks.count < rowCountMax else { throw RowDamage(table: "frame", column: "rows") }
        last = (track, packet, before.rank + 1)
        ranks[id] = before.rank + 1
      }
      return ranks
    }
    derivedShown.ranks = found
    return found
  }

  /// Complaints about frames that claim to be the same picture of the same packet.
  package func checkShown() throws -> [Complaint] {
    guard schemaVersion >= Schema.firstVersionWithShown else { return [] }
    return try read { database in
      let walk = try RowWalk(
        """
        SELECT track, packet, shown, min(sequence), max(sequence) FROM frame
        WHERE packet IS NOT NULL GROUP BY track, packet, shown HAVING count(*) > 1
        ORDER BY 1, 2, 3 LIMIT \(Self.complaintCount)
        """, in: database)
      var complaints: [Complaint] = []
      while try walk.next() {
        var reader = RowReader(walk, of: FrameRecord.table)
        let (track, packet, shown) = (
          try reader.count(), try reader.count(), try reader.count()
        )
        let (first, last) = (try reader.count(), try reader.count())
        complaints.append(
          Complaint(
            kind: .row,
            text: "frames \(track):\(first) and \(track):\(last) are both said to be image "
              + "\(shown) of packet \(packet)",
            table: FrameRecord.table.name, key: [track, last]))
      }
      return complaints
    }
  }
}
