import Foundation
import RetakeCore
import RetakeMedia
import Testing

@testable import RetakeSensors

/// Telemetry packets, made here.
enum MadeTelemetry {
  /// One item; a list has the type 0 and structures of one byte.
  static func item(_ key: String, _ type: Character?, size: Int, _ body: [UInt8]) -> [UInt8] {
    let count = size == 0 ? 0 : body.count / size
    var bytes = Array(key.utf8) + [type?.asciiValue ?? 0, UInt8(size)]
    bytes += [UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    bytes += body
    while bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }

  static func list(_ key: String, _ items: [[UInt8]]) -> [UInt8] {
    item(key, nil, size: 1, items.flatMap { $0 })
  }

  static func shorts(_ values: [Int16]) -> [UInt8] {
    values.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
  }

  /// A device with a gyroscope of three axes, divided by 100, and a battery of two kinds of
  /// numbers.
  static func packet(_ turns: [Int16]) -> [UInt8] {
    list(
      "DEVC",
      [
        item("DVID", "L", size: 4, [0, 0, 0, 1]),
        list(
          "STRM",
          [
            item("STNM", "c", size: 1, Array("Gyroscope (z,x,y)".utf8)),
            item("SIUN", "c", size: 5, Array("rad/s".utf8)),
            item("SCAL", "s", size: 2, shorts([100])),
            item("GYRO", "s", size: 6, shorts(turns)),
          ]),
        list(
          "STRM",
          [
            item("TYPE", "c", size: 1, Array("Bs".utf8)),
            item("SCAL", "s", size: 2, shorts([1, 10])),
            item("KBAT", "?", size: 3, [99, 0, 25]),
          ]),
      ])
  }
}

/// Telemetry becomes sensors.
struct TelemetryTests {
  private func payloads(_ bytes: [UInt8]) throws -> [TelemetryPayload] {
    let walk = TelemetryWalk(bytes: bytes)
    var found: [TelemetryPayload] = []
    try walk.eachStream { (device, items) in
      if let payload = try TelemetryStream(walk: walk).payload(device: device, items) {
        found.append(payload)
      }
    }
    return found
  }

  @Test func `the values of a stream are scaled, and named by its title`() throws {
    let found = try payloads(MadeTelemetry.packet([100, 200, -300, 0, 1, 2]))
    #expect(found.map(\.identity.key) == ["GYRO", "KBAT"])
    #expect(found[0].channels == ["z", "x", "y"] && found[0].unit == "rad/s")
    #expect(found[0].samples == [[1, 2, -3], [0, 0.01, 0.02]])
    #expect(found[1].samples == [[99, 2.5]] && found[1].channels == ["1", "2"])
  }

  @Test func `TYPE may repeat a letter`() {
    #expect(TelemetryStream.expanded("Lf[3]B") == Array("LfffB".utf8))
    for text in ["[3]", "f[", "f[0]", "f[999]", "f]"] {
      #expect(TelemetryStream.expanded(text) == nil, "\(text)")
    }
  }

  /// Each number of a packet's own structure, wrong in one way.
  @Test(
    arguments: [
      ("a list that says more than there is", [0x44, 0x45, 0x56, 0x43, 0, 1, 0, 9]),
      ("a cut header", [0x44, 0x45, 0x56, 0x43, 0]),
      ("a key that is none", [1, 2, 3, 4, 0x62, 1, 0, 0]),
    ] as [(String, [UInt8])])
  func `a lying packet is damage at its byte`(what: String, bytes: [UInt8]) {
    #expect(throws: TelemetryDamage.self) { try payloads(bytes) }
  }

  @Test func `lists are nested to a bound`() {
    var bytes = MadeTelemetry.list("STRM", [])
    for _ in 0..<7 { bytes = MadeTelemetry.list("DEVC", [bytes]) }
    #expect(throws: Never.self) { try payloads(bytes) }
    for _ in 0..<3 { bytes = MadeTelemetry.list("DEVC", [bytes]) }
    #expect(throws: TelemetryDamage.self) { try payloads(bytes) }
  }

  @Test func `a scale of zero and structures that do not match their type are damage`() {
    func stream(_ items: [[UInt8]]) -> [UInt8] {
      MadeTelemetry.list("DEVC", [MadeTelemetry.list("STRM", items)])
    }
    let values = MadeTelemetry.item("GYRO", "s", size: 6, MadeTelemetry.shorts([1, 2, 3]))
    let zero = MadeTelemetry.item("SCAL", "s", size: 2, MadeTelemetry.shorts([0]))
    let two = MadeTelemetry.item("SCAL", "s", size: 2, MadeTelemetry.shorts([1, 2]))
    let odd = MadeTelemetry.item("GYRO", "s", size: 5, [1, 2, 3, 4, 5])
    let untyped = MadeTelemetry.item("KBAT", "?", size: 3, [1, 2, 3])
    let type = MadeTelemetry.item("TYPE", "c", size: 1, Array("BB".utf8))
    for items in [[zero, values], [two, values], [odd], [untyped], [type, untyped]] {
      #expect(throws: TelemetryDamage.self) { try payloads(stream(items)) }
    }
  }

  @Test(arguments: [-1, -9.223_372_036_854_775_808e18, 1e16, .nan, .infinity, 2.5, 2])
  func `a count of samples that is no count is not used`(total: Double) throws {
    let bytes = withUnsafeBytes(of: total.bitPattern.bigEndian) { Array($0) }
    let values = MadeTelemetry.item("GYRO", "s", size: 6, MadeTelemetry.shorts([1, 2, 3]))
    let packet = MadeTelemetry.list(
      "DEVC",
      [MadeTelemetry.list("STRM", [MadeTelemetry.item("TSMP", "d", size: 8, bytes), values])])
    var packets = try [0, 1].map { index in
      try MediaPacket(index: index, pts: Int64(index), dts: nil, bytes: packet)
    }[...]
    let stream = MediaStream(index: 0, kind: .data, codec: "none", timeBase: TimeBase(1, 1_000))
    let counts = TelemetryCounts(of: stream) { packets.popFirst() }
    #expect((counts != nil) == (total == 2))
  }

  /// A few thousand packets with a few bytes changed, cut or repeated. No packet may end the
  /// process, and each becomes samples or damage with a place in the packet.
  @Test func `no packet ends the process`() throws {
    let whole = MadeTelemetry.packet((0..<60).map { Int16($0) })
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    func draw(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(max(1, bound)))
    }
    var (damaged, whole_) = (0, 0)
    for round in 0..<4_000 {
      var bytes = whole
      for _ in 0...draw(4) {
        guard !bytes.isEmpty else { break }
        let place = draw(bytes.count)
        switch draw(4) {
        case 0: bytes[place] = UInt8(draw(256))
        case 1: bytes[place] ^= 1 << UInt8(draw(8))
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + draw(16)))
        default: bytes.insert(contentsOf: bytes[..<min(16, bytes.count)], at: place)
        }
      }
      do {
        _ = try payloads(bytes)
        whole_ += 1
      } catch let damage as TelemetryDamage {
        damaged += 1
        #expect((0...bytes.count).contains(damage.byte), "round \(round)")
      }
    }
    #expect(damaged > 500 && whole_ > 500)
  }
}
