import RetakeMedia

/// Finds the places where packets of an MPEG transport stream are missing, by the counters of its
/// packet streams (ISO/IEC 13818-1, 2.4.3.3).
///
/// libavformat reads the same counters, but its flag for a damaged picture reaches the picture
/// before, and for the first picture no packet at all.
struct TransportGaps {
  struct Place: Hashable {
    /// Of the last packet of the same packet stream before the gap.
    var offset: Int64
    /// Whether the picture before may reach into the same PES packet.
    var isShared: Bool
  }

  private var places: [Int: [Place]] = [:]
  /// By packet stream; negative before its first packet.
  private var counters = [Int8](repeating: -1, count: streamCount)
  private var offsets = [Int64](repeating: 0, count: streamCount)
  private var shares = [Bool](repeating: false, count: streamCount)

  private static let streamCount = 0x2000
  private static let nullStream = 0x1FFF
  private static let packetBytes = 188
  /// Distances of packets: plain, with a time before each packet (M2TS), and with a checksum after
  /// it.
  private static let strides = [188, 192, 204]
  private static let pagePackets = 1_024
  private static let syncByte: UInt8 = 0x47

  /// - Parameter file: A transport stream. A part that cannot be read has no places.
  init(_ file: MediaFile) {
    guard let layout = Self.layout(of: file) else { return }
    var offset = Int64(layout.start)
    // Ends: each page is passed, or is shorter than a packet.
    while let page = try? file.bytes(layout.stride * Self.pagePackets, at: offset),
      page.count >= Self.packetBytes
    {
      offset += Int64(pass(page, at: offset, stride: layout.stride))
    }
  }

  var isEmpty: Bool { places.isEmpty }

  /// In the order of the file.
  func places(of stream: Int) -> [Place] { places[stream] ?? [] }

  /// The layout that has the most packets at the beginning of the file.
  private static func layout(of file: MediaFile) -> (start: Int, stride: Int)? {
    guard let head = try? file.bytes(1 << 14) else { return nil }
    var best: (start: Int, stride: Int, bytes: Int)?
    for stride in strides {
      for start in 0..<min(stride, head.count) {
        let places = Swift.stride(from: start, to: head.count, by: stride)
        let bytes = places.count { head[$0] == syncByte } * stride
        if bytes > best?.bytes ?? 0 { best = (start, stride, bytes) }
      }
    }
    return best.map { ($0.start, $0.stride) }
  }

  /// - Returns: the number of bytes that are done, at least one.
  private mutating func pass(_ page: [UInt8], at offset: Int64, stride: Int) -> Int {
    var place = 0
    while place + Self.packetBytes <= page.count {
      if page[place] == Self.syncByte {
        take(page[place..<place + Self.packetBytes], at: offset + Int64(place))
        place += stride
      } else {
        // After damage the packets may begin elsewhere.
        place += 1
        while place < page.count, !Self.isSynced(page, place, stride) { place += 1 }
      }
    }
    return min(place, max(page.count, 1))
  }

  private static func isSynced(_ page: [UInt8], _ place: Int, _ stride: Int) -> Bool {
    page[place] == syncByte && (place + stride >= page.count || page[place + stride] == syncByte)
  }

  private mutating func take(_ packet: ArraySlice<UInt8>, at offset: Int64) {
    guard let head = TransportJoints.Head(packet), head.stream != Self.nullStream else { return }
    let (stream, before) = (head.stream, counters[head.stream])
    if before >= 0, !head.isDeclared, head.counter != UInt8(before + 1) & 15 {
      places[stream, default: []].append(Place(offset: offsets[stream], isShared: shares[stream]))
    }
    if head.begins { shares[stream] = !Self.beginsPicture(packet[head.payload]) }
    (counters[stream], offsets[stream]) = (Int8(head.counter), offset)
    // transport_error_indicator: the packet itself has wrong bits.
    if packet[packet.startIndex + 1] & 0x80 != 0 {
      places[stream, default: []].append(Place(offset: offset, isShared: shares[stream]))
    }
  }

  /// Whether the content of a PES packet begins with a start code; true if the packet is too short
  /// to show it.
  private static func beginsPicture(_ payload: ArraySlice<UInt8>) -> Bool {
    let lengthPlace = payload.startIndex + 8
    guard payload.starts(with: [0, 0, 1]), lengthPlace < payload.endIndex else { return true }
    let content = payload.dropFirst(9 + Int(payload[lengthPlace]))
    guard content.count >= 4 else { return true }
    return content.starts(with: [0, 0, 1]) || content.starts(with: [0, 0, 0, 1])
  }
}

/// The packets of one stream whose bytes have gaps in them.
struct PacketsAtGaps {
  private var places: ArraySlice<TransportGaps.Place>
  /// Packets that the next place may be a part of: a packet with a known position, and the packets
  /// after it without a position.
  private var open = 0..<0
  private var openOffset: Int64 = -1
  private(set) var found: Set<Int> = []

  let hasPlaces: Bool

  init(_ places: [TransportGaps.Place]) {
    self.places = places[...]
    hasPlaces = !places.isEmpty
  }

  /// - Parameter offset: Where the PES packet begins in which the packet begins.
  mutating func add(_ packet: Int, offset: Int64?) {
    guard let offset, offset > openOffset else {
      open = open.lowerBound..<packet + 1
      return
    }
    close(before: offset)
    (open, openOffset) = (packet..<packet + 1, offset)
  }

  mutating func finish() { close(before: .max) }

  private mutating func close(before end: Int64) {
    while let place = places.first, place.offset < end {
      places.removeFirst()
      found.formUnion(open)
      if place.isShared, open.lowerBound > 0 { found.insert(open.lowerBound - 1) }
    }
  }
}
