/// Facts about one packet that its headers show.
package struct PacketEvidence: Hashable, Sendable {
  var damage: StreamDamage?
  /// Whether no later packet depends on the packets before this one.
  package var isRefresh = false
  /// Whether the decoder forgets all earlier pictures, in whatever order they are shown, and the
  /// packet has all headers that a new decoder needs.
  package var isRestart = false
  /// Damage of the previous packet that this packet shows.
  var damageBefore: StreamDamage?
  /// Whether no other picture refers to the pictures of the packet.
  package var isDisposable = false
  /// Damage of this packet and of packets before it, by their indexes.
  package internal(set) var damages: [Int: StreamDamage] = [:]
  /// Of the picture that is shown; nil if the codec does not say it.
  var order: PictureOrder?
  /// Differs in consecutive packets (`idr_pic_id`); nil in pictures without this field.
  var refreshID: Int?
  /// Whether its picture is shown before the key picture that it follows. Only other leading
  /// pictures of that key picture refer to it.
  package var isLeading = false
  /// Whether the picture refers to pictures before the beginning of the stream.
  package var lacksStart = false
  /// Packets before this one whose pictures do so, as only this packet shows.
  package internal(set) var opening: [Int] = []
  private var pictures = 0

  init(damage: StreamDamage? = nil, isRefresh: Bool = false, damageBefore: StreamDamage? = nil) {
    (self.damage, self.isRefresh, self.damageBefore) = (damage, isRefresh, damageBefore)
  }

  /// Of a picture that refers to others, before the first intra picture of the stream.
  static var withoutStart: PacketEvidence {
    var evidence = PacketEvidence(damage: .referenceMissing)
    evidence.lacksStart = true
    return evidence
  }

  /// Adds the evidence of another picture of the same packet.
  mutating func merge(_ other: PacketEvidence) {
    damage = damage ?? other.damage
    isRefresh = isRefresh || other.isRefresh
    isRestart = isRestart || other.isRestart
    damageBefore = damageBefore ?? other.damageBefore
    lacksStart = lacksStart || other.lacksStart
    isLeading = other.isLeading && (pictures == 0 || isLeading)
    isDisposable = other.isDisposable && (pictures == 0 || isDisposable)
    (order, refreshID) = (other.order ?? order, other.refreshID ?? refreshID)
    pictures += 1
  }
}
