import RetakeCore
package import RetakeStore

/// The packets of one stream, in decode order; a packet's index is its position. A list may have
/// hours of packets in memory, so an entry has only 72 bytes.
package struct PacketList: RandomAccessCollection, Sendable {
  private struct Entry {
    var digest: Digest128
    var pts: CompactNumber
    var dts: CompactNumber
    var duration: Int64
    var offset: CompactNumber
    var size: Int32
    var track: Int32
    var segment: Int32
    var ordinal: Int32
    /// Index in `sideData`; negative for no side data.
    var sideData: Int32
    var flags: UInt8
  }

  private var entries = CompactList<Entry>()
  /// Packets with side data mostly have the same side data, so it is stored once.
  private var sideData = ValueTable<[UInt8]>()

  package init() {}

  package init(_ records: [PacketRecord]) {
    for record in records { append(record) }
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { entries.count }

  package mutating func append(_ record: PacketRecord) {
    precondition(record.index == entries.count, "packets are numbered from 0")
    entries.append(
      Entry(
        digest: record.digest, pts: CompactNumber(record.pts), dts: CompactNumber(record.dts),
        duration: record.duration, offset: CompactNumber(record.offset),
        size: Int32(clamping: record.size), track: Int32(clamping: record.track),
        segment: Int32(clamping: record.segment), ordinal: Int32(clamping: record.ordinal),
        sideData: record.sideData.map { sideData.number(of: $0) } ?? -1,
        flags: UInt8(truncatingIfNeeded: record.flags.rawValue)))
  }

  package subscript(place: Int) -> PacketRecord {
    let entry = entries[place]
    return PacketRecord(
      track: Int(entry.track), index: place, segment: Int(entry.segment),
      ordinal: Int(entry.ordinal), pts: entry.pts.value, dts: entry.dts.value,
      duration: entry.duration, flags: .init(rawValue: Int(entry.flags)), size: Int(entry.size),
      digest: entry.digest, offset: entry.offset.value,
      sideData: entry.sideData < 0 ? nil : sideData[entry.sideData])
  }

  package mutating func setCorrupt(_ isCorrupt: Bool, at place: Int) {
    let flag = UInt8(truncatingIfNeeded: PacketRecord.Flags.corrupt.rawValue)
    if isCorrupt { entries[place].flags |= flag } else { entries[place].flags &= ~flag }
  }

  /// Adds the packets of another media file.
  ///
  /// - Parameter converted: A time or a duration in the unit of this list.
  mutating func append(
    _ other: PacketList, track: Int, segment: Int, _ converted: (Int64) -> Int64
  ) {
    for var record in other {
      (record.track, record.segment, record.index) = (track, segment, count)
      record.pts = record.pts.map(converted)
      record.dts = record.dts.map(converted)
      record.duration = converted(record.duration)
      append(record)
    }
  }

  /// Adds ticks to the times of the packets, by their segment.
  mutating func move(_ ticks: [Int64]) {
    for place in entries.indices {
      let move = ticks[Int(entries[place].segment)]
      entries[place].pts = entries[place].pts.moved(move)
      entries[place].dts = entries[place].dts.moved(move)
    }
  }

  /// Equals `self[place].segment`, without building the rest of the record.
  func segment(_ place: Int) -> Int { Int(entries[place].segment) }

  /// The first packet of a segment, whose packets follow one another.
  func firstPacket(ofSegment segment: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.segment(middle) < segment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Equals `self[place].flags`, without building the rest of the record.
  package func flags(_ place: Int) -> PacketRecord.Flags {
    .init(rawValue: Int(entries[place].flags))
  }
}
