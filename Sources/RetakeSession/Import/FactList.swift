import RetakeCore

/// The facts about a track's decoded images, in the decoder's order, 56 bytes each.
struct FactList: RandomAccessCollection, Sendable {
  private struct Entry {
    var digest: Digest128
    var pts: CompactNumber
    var bestEffort: CompactNumber
    var duration: Int64
    var packet: Int32
    var shown: Int32
    var through: Int32
    var shape: Int16
    /// Index in `damages`; negative for no damage.
    var damage: Int16
  }

  private var entries = CompactList<Entry>()
  private var shapes = ValueTable<DecodedFact.Shape>()
  private var damages = ValueTable<String>()

  init() {}

  init(_ facts: [DecodedFact]) {
    for fact in facts { append(fact) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { entries.count }
  /// More than one if the images change their size or format.
  var shapeCount: Int { shapes.values.count }
  var hasDamage: Bool { !damages.values.isEmpty }

  mutating func append(_ fact: DecodedFact) {
    entries.append(
      Entry(
        digest: fact.digest, pts: CompactNumber(fact.pts),
        bestEffort: CompactNumber(fact.bestEffort), duration: fact.duration,
        packet: Int32(clamping: fact.packet),
        shown: Int32(clamping: fact.shown), through: Int32(clamping: fact.through),
        shape: Int16(clamping: shapes.number(of: fact.shape)),
        damage: fact.damage.map { Int16(clamping: damages.number(of: $0)) } ?? -1))
  }

  subscript(place: Int) -> DecodedFact {
    let entry = entries[place]
    return DecodedFact(
      packet: Int(entry.packet), shown: Int(entry.shown), through: Int(entry.through),
      pts: entry.pts.value, bestEffort: entry.bestEffort.value, duration: entry.duration,
      digest: entry.digest,
      damage: entry.damage < 0 ? nil : damages[Int32(entry.damage)],
      shape: shapes[Int32(entry.shape)])
  }

  /// Equals `self[place].packet`, without building the rest.
  func packet(_ place: Int) -> Int { Int(entries[place].packet) }
}
