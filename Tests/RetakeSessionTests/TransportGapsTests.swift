import Foundation
import RetakeMedia
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// The counters of a transport stream's packets.
@Suite struct TransportGapsTests {
  private let folder: TemporaryFolder
  private static let stream = 0x100

  init() throws { folder = try TemporaryFolder("retake-gaps") }

  /// A packet with a counter; each fourth begins a PES packet.
  private static func packet(_ number: Int, begins: Bool, content: [UInt8]) -> [UInt8] {
    let head = [0x47, begins ? 0x41 : 0x01, 0x00, 0x10 | UInt8(number & 15)]
    let pes: [UInt8] = begins ? [0, 0, 1, 0xE0, 0, 0, 0x80, 0, 0] + content : content
    return head + pes + [UInt8](repeating: 0xAA, count: 184 - pes.count)
  }

  private func gaps(
    _ packets: [[UInt8]], _ name: String = "a.ts"
  ) throws -> [TransportGaps.Place] {
    let file = folder.file(name)
    try Data(packets.flatMap(\.self)).write(to: file)
    return TransportGaps(try MediaFile(path: file.path)).places(of: Self.stream)
  }

  private static func packets(content: [UInt8] = [0, 0, 1, 9]) -> [[UInt8]] {
    (0..<40).map {
      packet($0, begins: $0.isMultiple(of: 4), content: $0.isMultiple(of: 4) ? content : [])
    }
  }

  @Test(arguments: [(0, 0), (4, 0), (0, 16)])
  func `a missing packet is placed at the one before it, in each form`(
    before: Int, behind: Int
  ) throws {
    var packets = Self.packets().map {
      [UInt8](repeating: 1, count: before) + $0 + [UInt8](repeating: 1, count: behind)
    }
    #expect(try gaps(packets).isEmpty)
    packets.remove(at: 22)
    let offset = 21 * (188 + before + behind) + before
    #expect(try gaps(packets) == [.init(offset: Int64(offset), isShared: false)])
  }

  @Test func `packets are found behind missing bytes, and by their error flag`() throws {
    var packets = Self.packets()
    packets[10].removeLast(50)
    packets[30][1] |= 0x80
    // The short packet swallows the head of the next packet.
    #expect(
      try gaps(packets) == [
        .init(offset: 10 * 188, isShared: false), .init(offset: 30 * 188 - 50, isShared: false),
      ])
  }

  @Test func `a picture that may end in the same PES packet is damaged, too`() throws {
    var packets = Self.packets(content: [1, 2, 3, 4])
    packets.remove(at: 22)
    let places = try gaps(packets)
    #expect(places == [.init(offset: 21 * 188, isShared: true)])
    var found = PacketsAtGaps(places)
    for packet in 0..<10 { found.add(packet, offset: Int64(packet * 4 * 188)) }
    found.finish()
    #expect(found.found == [4, 5])
  }

  @Test func `packets without a position belong to the one before`() {
    var found = PacketsAtGaps([.init(offset: 250, isShared: false)])
    for (packet, offset) in [100, 200, nil, 200, 300].enumerated() {
      found.add(packet, offset: offset.map { Int64($0) })
    }
    found.finish()
    #expect(found.found == [1, 2, 3])
  }
}
