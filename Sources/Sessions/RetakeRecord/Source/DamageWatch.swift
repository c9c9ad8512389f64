import RetakeMedia
import RetakeSession

/// The damage that a live stream's packets and its decoder show, for the rows of its frames.
///
/// The causes equal the causes in an import of the same packets. One thread at a time uses it.
struct DamageWatch {
  private var headers: StreamEvidence?
  private let hasHeaders: Bool
  /// Damage that the headers of the complete stream show, by packet; nil if it is not known before.
  private let known: [Int: StreamDamage]?
  /// Causes of the last packets, by their index.
  private var causes: [Int: String] = [:]
  /// The last packets whose pictures no other picture refers to.
  private var disposable: Set<Int> = []
  /// The packets from which a decoder does not need earlier packets, in ascending order.
  private var refreshes: [Int] = []
  /// Damage that a decoder found reaches all pictures from these packets to the next refresh.
  private var reaches: [(packet: Int, cause: String)] = []
  private(set) var latest = 0
  /// The packets of a file that lack bytes, by their indexes; nil if only their flags show it.
  private var incomplete: Set<Int>?
  private var hasAsked = false
  private let asksFile: (@Sendable (_ isFlagged: Bool) -> Set<Int>?)?
  /// The last packet had the flag, and it is unknown whether it or the next packet lacks bytes.
  private var isNextCorrupt = false

  /// Number of packets after which a decoder has returned their pictures.
  private static let packetsKept = 64

  /// - Parameters:
  ///   - known: Damage that the headers of the complete stream show, by packet; nil to read them as
  ///     they come.
  ///   - asksFile: Reads the complete file for the packets that lack bytes; nil for a live stream.
  init(
    _ stream: MediaStream, known: [Int: StreamDamage]? = nil,
    asksFile: (@Sendable (_ isFlagged: Bool) -> Set<Int>?)? = nil
  ) {
    (self.known, self.asksFile) = (known, asksFile)
    headers = StreamEvidence(stream)
    hasHeaders = headers != nil
  }

  /// - Parameter packet: Is decoded next; nil marks the end.
  mutating func add(_ packet: MediaPacket?) {
    guard let packet else {
      // Damage that the headers withdraw only now stays in its rows, which are already written.
      if known == nil, let damages = headers?.finish() { take(damages.compactMapValues { $0 }) }
      return
    }
    latest = packet.index
    let shown = headers?.add(packet)
    if shown?.isDisposable == true { disposable.insert(packet.index) }
    if let known {
      if let damage = known[packet.index] { take([packet.index: damage]) }
    } else if let damages = shown?.damages {
      take(damages)
    }
    // First: damage of the refresh itself reaches the pictures after it.
    let isRefresh = hasHeaders ? shown?.isRefresh ?? false : packet.flags.contains(.key)
    if isRefresh { refreshes.append(packet.index) }
    if isIncomplete(packet) { begin(FrameCause.corrupt, at: packet.index) }
    prune()
  }

  private mutating func isIncomplete(_ packet: MediaPacket) -> Bool {
    let isFlagged = packet.flags.contains(.corrupt)
    guard let asksFile else {
      defer { isNextCorrupt = isFlagged }
      return isFlagged || isNextCorrupt
    }
    if !hasAsked {
      incomplete = asksFile(false)
      hasAsked = true
    }
    if isFlagged, incomplete == nil { incomplete = asksFile(true) }
    return incomplete?.contains(packet.index) ?? isFlagged
  }

  private mutating func take(_ damages: [Int: StreamDamage]) {
    causes.merge(damages.mapValues(\.rawValue)) { old, _ in old }
  }

  private mutating func prune() {
    let first = latest - Self.packetsKept
    let isFull = max(causes.count, disposable.count) > Self.packetsKept
    guard (refreshes.first ?? latest) < first || isFull else { return }
    reaches.removeAll { reach in refreshes.contains { reach.packet < $0 && $0 < first } }
    // The last refresh before the kept packets still ends the reach of earlier damage.
    let last = refreshes.last
    refreshes.removeAll { $0 < first && $0 != last }
    causes = causes.filter { $0.key >= first }
    disposable = disposable.filter { $0 >= first }
  }

  /// - Parameter reports: Messages in the decoder's log since the last call.
  mutating func add(_ reports: [DecoderReport]) {
    for report in reports where report.isDamage { begin(FrameCause.reported, at: report.packet) }
  }

  /// A packet that the decoder rejected; the pictures after it may refer to its picture.
  mutating func refused(_ packet: MediaPacket, _ error: MediaError) {
    begin(error.code, at: packet.index)
  }

  /// Number of packets after which all damage of a packet is known.
  var lookahead: Int { hasHeaders ? StreamEvidence.lookahead : 0 }

  /// The damage that later packets showed about one of the last packets.
  func lateCause(ofPacket packet: Int) -> String? { causes[packet] }

  /// Why the picture's pixels cannot be trusted.
  mutating func cause(of decoded: DecodedFrame) -> String? {
    if decoded.isDamaged { begin(FrameCause.damaged, at: decoded.packetIndex) }
    if let own = causes[decoded.packetIndex] { return own }
    let at = decoded.packetIndex
    return reaches.first { $0.packet <= at && !isOver($0, at: at) }?.cause
  }

  private func isOver(_ reach: (packet: Int, cause: String), at packet: Int) -> Bool {
    refreshes.contains { reach.packet < $0 && $0 <= packet }
  }

  private mutating func begin(_ cause: String, at packet: Int) {
    causes[packet] = causes[packet] ?? cause
    guard !disposable.contains(packet) else { return }
    // Pictures before the last refresh may still come out of the decoder.
    if reaches.allSatisfy({ isOver($0, at: packet) }) { reaches.append((packet, cause)) }
  }
}
