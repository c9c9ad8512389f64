import RetakeCore

/// The facts about a track's decoded images, in the decoder's order, 56 bytes each.
package struct FactList: RandomAccessCollection, Sendable {
  private struct Entry {
    var digest: Digest128
    var pts: CompactNumber
    var bestEffort: CompactNumber
    var duration: Int64
    var packet: Int32
    var shown: Int32
    var through: Int32
    /// The index in `shapes`, and above its bits one more than the index in `damages`; 0 there for
    /// no damage.
    ///
    /// A file may have a new size in each packet, so shapes get the most bits. Each change begins a
    /// segment, and no session has more than 65,536 of them. Damage is one of the program's own
    /// error codes, of which there are far fewer than 255.
    var kinds: UInt32
  }

  private static let shapeBits: UInt32 = 24
  private static let shapeCountMax = UInt32(1) << shapeBits

  private var entries = CompactList<Entry>()
  private var shapes = ValueTable<DecodedFact.Shape>()
  private var damages = ValueTable<String>()

  package init() {}

  package init(_ facts: [DecodedFact]) {
    for fact in facts { append(fact) }
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { entries.count }
  /// More than one if the images change their size or format.
  var shapeCount: Int { shapes.values.count }
  var hasDamage: Bool { !damages.values.isEmpty }

  package mutating func append(_ fact: DecodedFact) {
    entries.append(
      Entry(
        digest: fact.digest, pts: CompactNumber(fact.pts),
        bestEffort: CompactNumber(fact.bestEffort), duration: fact.duration,
        packet: Int32(clamping: fact.packet),
        shown: Int32(clamping: fact.shown), through: Int32(clamping: fact.through),
        kinds: kinds(of: fact)))
  }

  private mutating func kinds(of fact: DecodedFact) -> UInt32 {
    let shape = Swift.min(UInt32(shapes.number(of: fact.shape)), Self.shapeCountMax - 1)
    let damage = fact.damage.map { Swift.min(UInt32(damages.number(of: $0)) + 1, 255) } ?? 0
    return damage << Self.shapeBits | shape
  }

  package subscript(place: Int) -> DecodedFact {
    let entry = entries[place]
    let damage = Int32(entry.kinds >> Self.shapeBits)
    return DecodedFact(
      packet: Int(entry.packet), shown: Int(entry.shown), through: Int(entry.through),
      pts: entry.pts.value, bestEffort: entry.bestEffort.value, duration: entry.duration,
      digest: entry.digest,
      damage: damage == 0 ? nil : damages[damage - 1],
      shape: shapes[Int32(entry.kinds % Self.shapeCountMax)])
  }

  /// Adds ticks to the times of each image, by its packet.
  mutating func move(_ ticks: (_ packet: Int) -> Int64) {
    for place in entries.indices {
      let move = ticks(Int(entries[place].packet))
      entries[place].pts = entries[place].pts.moved(move)
      entries[place].bestEffort = entries[place].bestEffort.moved(move)
    }
  }

  /// Equals `self[place].packet`, without building the rest.
  package func packet(_ place: Int) -> Int { Int(entries[place].packet) }
}
