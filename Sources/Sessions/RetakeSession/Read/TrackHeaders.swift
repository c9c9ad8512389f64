import RetakeMedia

/// The findings from the headers of a track's packets, read in decode order without decoding.
///
/// The headers of a segment that continues the segment before are read with its state, as the
/// decoder decodes them.
struct TrackHeaders {
  /// Damage by packet. It names each picture that it reaches.
  private(set) var damages: [Int: StreamDamage] = [:]
  /// Packets whose pictures no other picture refers to.
  private(set) var disposable: Set<Int> = []
  /// Packets whose pictures are shown before their key picture; only others of them refer to them.
  private(set) var leading: Set<Int> = []
  /// Damaged packets whose pictures refer to pictures before the beginning of their file.
  private(set) var opening: Set<Int> = []
  /// Packets at which decoding may begin, in ascending order: from a restart on, every picture
  /// equals the picture that decoding in order returns. A track may have more: a codec need not
  /// declare them.
  private(set) var restarts: [Int] = []

  /// Whether a part of the track has headers that cannot show each lost picture.
  private(set) var isUndecided = false

  /// Whether only the times of pictures show a lost one, so that a picture which an encoder left
  /// out looks the same.
  private(set) var isByTimes = false

  private var hasCorruptPackets = false
  /// Whether neither the headers nor a packet's flag shows damage.
  var isWhole: Bool { damages.isEmpty && !hasCorruptPackets }

  private var view: SegmentView?
  private var evidence: StreamEvidence?

  /// - Parameter packet: Has its number in the session.
  mutating func add(_ packet: MediaPacket, of view: SegmentView) {
    if self.view?.file !== view.file {
      if self.view == nil || !view.continues {
        finish()
        evidence = StreamEvidence(view.stream)
        if StreamEvidence.learns(view.stream.codec) { isByTimes = true }
      }
      self.view = view
    }
    if packet.flags.contains(.corrupt) { hasCorruptPackets = true }
    guard let shown = evidence?.add(packet) else {
      if view.stream.restarts(at: packet) { restarts.append(packet.index) }
      return
    }
    damages.merge(shown.damages) { old, _ in old }
    if shown.lacksStart { opening.insert(packet.index) }
    opening.formUnion(shown.opening)
    if shown.isDisposable { disposable.insert(packet.index) }
    if shown.isLeading { leading.insert(packet.index) }
    if shown.isRestart, packet.flags.contains(.key) { restarts.append(packet.index) }
  }

  /// Adds the damage that only the end of the track shows.
  mutating func finish() {
    for (packet, damage) in evidence?.finish() ?? [:] {
      damages[packet] = damage
      if damage == nil { opening.remove(packet) }
    }
    if evidence?.isUndecided == true { isUndecided = true }
  }
}
