/// Finds pictures that were exchanged with their neighbors, by comparing the times of their packets
/// with the order that their headers state.
///
/// If times and order often differ in a stream, its times do not belong to its pictures, and the
/// differences do not prove damage.
struct PlacementEvidence: Sendable {
  private struct Entry: Sendable {
    var packet: Int
    var time: Int64?
    var order: PictureOrder?
    var refreshID: Int?
    var isRefresh: Bool
    var isDamaged: Bool
  }

  /// The last packets; the packet that is judged is in the middle.
  private var entries: [Entry] = []
  private var judged = 0
  /// Whether the times belong to the pictures: in a stream with reordered pictures, times have
  /// decreased together with the order.
  private var hasTrust: Bool

  /// Number of packets before and after a pair that are looked at.
  private static let reach = 8
  static let lookahead = reach + 1
  private static let pairsMin = 4
  /// Other exchanged pairs in the reach that are still damage.
  private static let othersMax = 2

  /// - Parameter isInOrder: Pictures are shown in the order in which they are decoded.
  init(isInOrder: Bool) {
    hasTrust = isInOrder
  }

  /// - Returns: the packets whose pictures belong to another time.
  mutating func add(_ packet: MediaPacket, _ evidence: PacketEvidence) -> [Int] {
    if evidence.damageBefore != nil, !entries.isEmpty {
      entries[entries.count - 1].isDamaged = true
    }
    entries.append(
      Entry(
        packet: packet.index, time: packet.pts, order: evidence.order,
        refreshID: evidence.refreshID, isRefresh: evidence.isRefresh,
        isDamaged: evidence.damage != nil))
    if entries.count > 2 * Self.reach + 2 {
      entries.removeFirst()
      judged -= 1
    }
    if let step = step(entries.count - 2), step.time < 0, step.order < 0 { hasTrust = true }
    guard entries.count - judged > Self.lookahead else { return [] }
    defer { judged += 1 }
    return misplaced(at: judged)
  }

  mutating func finish() -> [Int] {
    defer { (entries, judged) = ([], 0) }
    return (judged..<max(judged, entries.count)).flatMap { misplaced(at: $0) }
  }

  private func misplaced(at place: Int) -> [Int] {
    if isExchanged(place) || hasExchangedRefreshes(place) {
      return [entries[place].packet, entries[place + 1].packet]
    }
    return isRefreshElsewhere(place) ? [entries[place].packet] : []
  }

  /// Whether the pictures at a place and after it fit when they are exchanged.
  private func isExchanged(_ place: Int) -> Bool {
    guard hasTrust, isInverted(place), entries.indices.contains(place + 1) else { return false }
    var (one, other) = (entries[place], entries[place + 1])
    swap(&one.order, &other.order)
    guard !Self.isInverted(entry(place - 1), one), !Self.isInverted(other, entry(place + 2)) else {
      return false
    }
    let others = entries.indices.filter { !(place - 1...place + 1).contains($0) }
    let pairs = others.filter { step($0) != nil }.count
    return pairs >= Self.pairsMin
      && others.filter { isInverted($0) }.count <= Self.othersMax
  }

  /// ITU-T H.264, 7.4.3: `idr_pic_id` differs in consecutive pictures. If two exchanged pictures
  /// have different identifiers, each has the same identifier as its new neighbor.
  private func hasExchangedRefreshes(_ place: Int) -> Bool {
    func repeats(_ place: Int) -> Bool {
      guard entries.indices.contains(place), entries.indices.contains(place - 1) else {
        return false
      }
      return entries[place].refreshID.map { $0 == entries[place - 1].refreshID } ?? false
    }
    return repeats(place) && repeats(place + 2)
      && entries.indices.allSatisfy { $0 == place || $0 == place + 2 || !repeats($0) }
  }

  /// Whether decoding begins with a picture here, the next picture lacks a reference, and the
  /// distance between the two does not fit a stream of constant rate.
  private func isRefreshElsewhere(_ place: Int) -> Bool {
    guard entries[place].isRefresh, !entries[place].isDamaged,
      entries.indices.contains(place + 1), entries[place + 1].isDamaged,
      let found = step(place)
    else { return false }
    let steps = entries.indices.filter { !(place - 2...place + 1).contains($0) }
      .compactMap { step($0) }.filter { $0.time > 0 && $0.order > 0 }
    guard steps.count >= Self.pairsMin, let first = steps.min(by: { $0.order < $1.order }),
      steps.allSatisfy({ Self.agree($0, first) })
    else { return false }
    return !Self.agree(found, first)
  }

  /// Difference of the times and of the orders of the pictures at a place and after it.
  private func step(_ place: Int) -> (time: Int64, order: Int)? {
    guard entries.indices.contains(place), entries.indices.contains(place + 1) else { return nil }
    let (one, other) = (entries[place], entries[place + 1])
    guard let start = one.time, let end = other.time, let from = one.order, let to = other.order,
      from.epoch == to.epoch
    else { return nil }
    let (time, isOver) = end.subtractingReportingOverflow(start)
    return isOver ? nil : (time, to.number - from.number)
  }

  /// Whether two distances have the same rate, but for the rounding of times.
  private static func agree(
    _ step: (time: Int64, order: Int), _ other: (time: Int64, order: Int)
  ) -> Bool {
    let (wanted, found) = (
      Double(other.time) * Double(step.order), Double(step.time) * Double(other.order)
    )
    return abs(wanted - found) < Double(other.time) * Double(other.order) / 2
  }

  private func entry(_ place: Int) -> Entry? {
    entries.indices.contains(place) ? entries[place] : nil
  }

  /// Whether the pictures at a place and after it are shown in another order than their headers
  /// say.
  private func isInverted(_ place: Int) -> Bool { Self.isInverted(entry(place), entry(place + 1)) }

  private static func isInverted(_ one: Entry?, _ other: Entry?) -> Bool {
    guard let start = one?.time, let end = other?.time, let from = one?.order,
      let to = other?.order, from.epoch == to.epoch
    else { return false }
    return (start < end && from.number > to.number) || (start > end && from.number < to.number)
  }
}
