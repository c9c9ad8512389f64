import RetakeMedia

/// Finds the places where complete pieces of an MPEG transport stream were joined (`cat a.ts
/// b.ts`).
///
/// Each packet stream has a counter. If a counter jumps, libavformat marks a packet near it as
/// corrupt, and drops no packet. The mark is right if packets were lost, and wrong if one piece
/// ends and the next piece begins, with every counter at zero. Only such a place is a joint, and
/// only after complete images.
struct TransportJoints {
  /// One packet stream.
  fileprivate struct Stream {
    var counter: UInt8
    /// Size of the current PES packet including its header; 0 if the packet does not declare its
    /// size.
    var expectedBytes = 0
    var bytes = 0
    var isPES = false
    /// The last packet had stuffing, as only the end of a PES packet has.
    var isFilledUp = false
  }

  /// The header of a packet, according to ISO/IEC 13818-1, 2.4.3.2.
  struct Head {
    var stream: Int
    var begins: Bool
    var counter: UInt8
    var payload: Range<Int>
    var isFilledUp: Bool
    /// The packet itself declares that the counter jumps.
    var isDeclared: Bool
  }

  private(set) var count = 0
  private var streams: [Int: Stream] = [:]
  /// Streams that had a packet since the last joint.
  private var begun: Set<Int> = []

  private static let packetBytes = 188
  private static let pagePackets = 1_024
  private static let nullStream = 0x1FFF
  /// The tables that a piece begins with: of services, or of programs.
  private static let firstStreams: Set = [0x00, 0x11]

  private init() {}

  /// The number of joints in the file; `nil` if anything else is missing, or it is another
  /// container.
  static func count(in file: MediaFile) -> Int? {
    var joints = TransportJoints()
    // Forms with 192 or 204 bytes for a packet count as another container, and keep their flags.
    guard file.size.isMultiple(of: Int64(packetBytes)) else { return nil }
    var offset: Int64 = 0
    while offset < file.size {
      guard let page = try? file.bytes(packetBytes * pagePackets, at: offset), !page.isEmpty else {
        return nil
      }
      for start in stride(from: 0, to: page.count, by: packetBytes) {
        guard joints.take(page[start..<start + packetBytes]) else { return nil }
      }
      offset += Int64(page.count)
    }
    return joints.streams.values.allSatisfy(\.isWhole) ? joints.count : nil
  }

  /// - Returns: `false` if something is missing.
  private mutating func take(_ packet: ArraySlice<UInt8>) -> Bool {
    // The sync byte, and transport_error_indicator.
    guard packet.first == 0x47, packet[packet.startIndex + 1] & 0x80 == 0 else { return false }
    // A null packet's counter has no meaning, and a packet without payload does not advance its
    // counter (ISO/IEC 13818-1, 2.4.3.3).
    guard let head = Head(packet), head.stream != Self.nullStream else { return true }
    if let before = streams[head.stream] {
      let leaps = head.counter != (before.counter + 1) & 15 && !head.isDeclared
      if leaps, !beginJoint(head) { return false }
    }
    if count > 0, begun.insert(head.stream).inserted {
      // A stream that does not begin again at zero after a joint lacks its first packets.
      guard head.counter == 0, head.begins else { return false }
    }
    return update(head, packet[head.payload])
  }

  /// Handles a jump: the first jump of a joint, or a jump that follows from it.
  private mutating func beginJoint(_ head: Head) -> Bool {
    guard head.counter == 0, head.begins else { return false }
    // The joint was counted at its first stream; this one follows from it.
    if count > 0, !begun.contains(head.stream) { return true }
    // The first packet of any other stream comes after the first packets of the tables.
    guard Self.firstStreams.contains(head.stream),
      streams.values.allSatisfy({ $0.isWhole && $0.endsWhole })
    else { return false }
    count += 1
    begun = []
    return true
  }

  private mutating func update(_ head: Head, _ payload: ArraySlice<UInt8>) -> Bool {
    var stream = streams[head.stream] ?? Stream(counter: head.counter)
    stream.counter = head.counter
    stream.isFilledUp = head.isFilledUp
    if head.begins {
      // A new PES packet begins before the previous PES packet has all its bytes: bytes are
      // missing.
      guard stream.isWhole else { return false }
      stream.isPES = payload.starts(with: [0, 0, 1])
      let bytes = payload.prefix(6)
      let length =
        bytes.count == 6 ? Int(bytes[bytes.startIndex + 4]) << 8 | Int(bytes.last ?? 0) : 0
      // The length counts the bytes after these 6 bytes; 0 means that the length is not declared.
      stream.expectedBytes = stream.isPES && length > 0 ? 6 + length : 0
      stream.bytes = 0
    }
    stream.bytes += payload.count
    streams[head.stream] = stream
    return true
  }
}

extension TransportJoints.Stream {
  /// Whether the current PES packet has as many bytes as its header says.
  fileprivate var isWhole: Bool { bytes >= expectedBytes }

  /// A PES packet without a size ends with a transport packet that has stuffing.
  fileprivate var endsWhole: Bool { !isPES || expectedBytes > 0 || isFilledUp }
}

extension TransportJoints.Head {
  /// `nil` for a packet without a payload, because its counter does not advance.
  init?(_ packet: ArraySlice<UInt8>) {
    let start = packet.startIndex
    let control = packet[start + 3]
    // Bit 0x10: there is a payload; 0x20 below: there is an adaptation field.
    guard control & 0x10 != 0 else { return nil }
    stream = Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2])
    begins = packet[start + 1] & 0x40 != 0
    counter = control & 0x0F
    (isFilledUp, isDeclared) = (false, false)
    var first = start + 4
    if control & 0x20 != 0 {
      let length = packet[start + 4]
      let flags = length > 0 ? packet[start + 5] : 0
      // discontinuity_indicator: the writer says itself that counters jump here.
      isDeclared = flags & 0x80 != 0
      // The flags, and a clock of six bytes.
      let needed: UInt8 = flags & 0x10 != 0 ? 7 : flags == 0 ? 0 : 1
      isFilledUp = length == 0 || length > needed
      first += 1 + Int(length)
    }
    guard first <= packet.endIndex else { return nil }
    payload = first..<packet.endIndex
  }
}
