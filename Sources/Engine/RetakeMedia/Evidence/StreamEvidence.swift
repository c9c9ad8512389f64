/// Reads the headers of a stream's packets, in decode order, without decoding.
///
/// Finds damage that the stream itself shows: pictures that refer to a missing picture, missing
/// slices, and pictures that were exchanged or repeated. It names each picture that such damage
/// reaches. Of some codecs whose headers have no numbers, it only finds pictures before the first
/// intra picture. Other such codecs (VP8, VP9, Theora, codecs of single images), whose decoders
/// reject these pictures, are not supported.
package struct StreamEvidence: Sendable {
  private var reader: any EvidenceReader
  private var placement: PlacementEvidence
  private var latest = 0
  private var previous: MediaPacket?

  /// - Returns: nil for a codec whose headers cannot show damage.
  package init?(_ stream: MediaStream) {
    let isInOrder = stream.delay == 0
    placement = PlacementEvidence(isInOrder: isInOrder)
    switch stream.codec {
    case "h264": reader = H264Evidence(extradata: stream.extradata)
    case "hevc": reader = HEVCEvidence(extradata: stream.extradata)
    case "mpeg1video", "mpeg2video":
      reader = MPEG2Evidence(isInOrder: isInOrder, crossesRows: stream.codec == "mpeg1video")
    case "mpeg4": reader = MPEG4Evidence(extradata: stream.extradata, isInOrder: isInOrder)
    case "h263", "h263p": reader = H263Evidence(isInOrder: isInOrder)
    case "av1": reader = AV1Evidence(extradata: stream.extradata)
    default:
      guard let opening = OpeningEvidence(codec: stream.codec) else { return nil }
      reader = opening
    }
  }

  /// - Parameter packet: Follows the packet of the call before, in decode order.
  package mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var evidence = reader.add(packet)
    latest = packet.index
    if let damage = evidence.damage { evidence.damages[packet.index] = damage }
    if let damage = evidence.damageBefore { evidence.damages[packet.index - 1] = damage }
    if isRepeated(packet, evidence) {
      evidence.damages[packet.index] = evidence.damages[packet.index] ?? .misplaced
      if !evidence.isDisposable { reader.repeatLast(packet: packet.index) }
    }
    previous = packet
    for place in placement.add(packet, evidence) where evidence.damages[place] == nil {
      evidence.damages[place] = .misplaced
    }
    return evidence
  }

  /// Whether a picture that refers to others is there twice in a row. Its header has a number, so
  /// two pictures that look alike differ in it.
  private func isRepeated(_ packet: MediaPacket, _ evidence: PacketEvidence) -> Bool {
    guard evidence.order != nil, !evidence.isRefresh, let previous, previous.size == packet.size
    else { return false }
    return packet.withBytes { bytes in previous.withBytes { bytes.elementsEqual($0) } }
  }

  /// - Returns: changes at the end of the stream, by the packets' indexes: damage that was not
  ///   known yet, and nil for damage that is withdrawn.
  package mutating func finish() -> [Int: StreamDamage?] {
    previous = nil
    var damages = reader.finish(packet: latest)
    for place in placement.finish() where damages[place].flatMap({ $0 }) == nil {
      damages[place] = .some(.misplaced)
    }
    return damages
  }

  /// Whether the stream's headers cannot show each lost picture, although headers of its codec can:
  /// a packed MPEG-4 stream of variable rate, or gaps in the times of a stream with B-pictures.
  package var isUndecided: Bool { reader.isUndecided }

  /// Number of packets that are needed after a packet until all damage of it is known.
  package static var lookahead: Int { PlacementEvidence.lookahead }

  /// Whether the distance of a codec's pictures is known only at the end of the stream.
  package static func learns(_ codec: String) -> Bool {
    ["mpeg4", "h263", "h263p"].contains(codec)
  }

  /// Whether damage of a codec's packets may be known, or be withdrawn, only long after them.
  package static func decidesLate(_ codec: String) -> Bool {
    learns(codec) || OpeningEvidence.goesByFlags(codec)
      || ["mpeg1video", "mpeg2video"].contains(codec)
  }

  /// The damage that the headers of all packets of a file's stream show, by the packets' indexes.
  ///
  /// - Returns: nil if the file's packets cannot be read to the end, or the codec's headers cannot
  ///   show damage.
  package static func damages(of stream: MediaStream, in path: String) -> [Int: StreamDamage]? {
    guard var evidence = StreamEvidence(stream), let demuxer = try? MediaDemuxer(path: path) else {
      return nil
    }
    demuxer.select([stream.index])
    var found: [Int: StreamDamage] = [:]
    do {
      while let packet = try demuxer.nextPacket() {
        found.merge(evidence.add(packet).damages) { old, _ in old }
      }
    } catch { return nil }
    for (packet, damage) in evidence.finish() { found[packet] = damage }
    return found
  }

  /// Whether pictures of a codec refer to others, and their headers do not show a lost one.
  package static func isSilent(_ codec: String) -> Bool { silentCodecs.contains(codec) }

  private static let silentCodecs: Set = [
    "flv1", "msmpeg4v1", "msmpeg4v2", "msmpeg4v3", "rv30", "rv40", "svq1", "svq3", "theora",
    "vc1", "vp6", "vp6f", "vp8", "vp9", "wmv1", "wmv2", "wmv3",
  ]
}
