import Foundation
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeSession

/// A track that two decoders decode must have the pixels of one decoder.
struct DecodedPartsTests {
  private struct Indexed {
    let stream: MediaStream
    let table: ImportTable
    /// Exists as long as its file is read.
    private let folder: TemporaryFolder

    init(_ clip: Clip) throws {
      let folder = try TemporaryFolder()
      try self.init(try clip.make(in: folder), in: folder)
    }

    init(_ file: URL, in folder: TemporaryFolder) throws {
      self.folder = folder
      stream = try MediaDemuxer(path: file.path).videoStream()
      let media = try MediaFile(path: file.path)
      let packets = try PacketIndexer(file: media, streams: [stream], report: { _ in true })
        .run().packets[stream.index]
      table = ImportTable(
        track: stream.index, packets: try #require(packets),
        views: [0: SegmentView(file: media, stream: stream)])
    }

    var decoding: TrackDecoding {
      TrackDecoding(table: table, memory: ImageMemory()) { _ in true }
    }

    /// Packet, number within it, and digest of each image.
    func images(_ facts: TrackFacts) -> [String] {
      facts.frames.map { "\($0.packet).\($0.shown) \($0.digest)" }
    }

    var count: Int { table.packets.count }
  }

  @Test(arguments: Clip.all) func `two decoders find the images of one`(clip: Clip) throws {
    let indexed = try Indexed(clip)
    let facts = try indexed.decoding.run()
    let images = indexed.images(try indexed.decoding.inOrder(count: indexed.count))

    #expect(!images.isEmpty && indexed.images(facts) == images && !facts.isDamaged)
  }

  /// Otherwise one decoder would decode all of it again.
  @Test(arguments: ["0", "1", "3"])
  func `two decoders are enough for a track with B-pictures`(count: String) throws {
    let clip = Clip(
      name: "B-pictures \(count)", file: "b\(count).mp4",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "100"],
      output: [
        "-c:v", "libx264", "-bf", count, "-pix_fmt", "yuv420p", "-x264-params",
        "keyint=25:scenecut=0:b-adapt=0",
      ])
    let indexed = try Indexed(clip)
    let reports = Mutex(0)
    let decoding = TrackDecoding(table: indexed.table, memory: ImageMemory()) { _ in
      reports.withLock { $0 += 1 }
      return true
    }
    #expect(try decoding.run().frames.count == 100)
    // One after 64 pictures; one decoder after the two would report again.
    #expect(reports.withLock { $0 } == 1)
  }

  @Test(arguments: [
    (Clip.transport, [0, 10, 20, 30, 40, 50]), (Clip.openGOP, [0]), (Clip.intraRefresh, [0]),
    (Clip.mpeg2, []), (Clip.motionJPEG, []),
  ])
  func `decoding restarts where the codec forgets all images`(clip: Clip, packets: [Int]) throws {
    let indexed = try Indexed(clip)

    #expect(try indexed.decoding.run().headers.restarts == packets)
  }

  /// The third group brings other parameter sets, which the fourth uses without repeating them.
  @Test func `decoding does not restart at a packet that lacks parameter sets`() throws {
    let folder = try TemporaryFolder()
    func groups(cabac: Int) throws -> [[[UInt8]]] {
      let clip = Clip(
        name: "groups", file: "cabac\(cabac).h264",
        inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "40"],
        output: [
          "-c:v", "libx264", "-bf", "0", "-pix_fmt", "yuv420p", "-x264-params",
          "keyint=10:scenecut=0:cabac=\(cabac)",
        ])
      return Self.groups(of: try Data(contentsOf: try clip.make(in: folder)))
    }
    let (with, without) = (try groups(cabac: 1), try groups(cabac: 0))
    #expect(with.count == 4 && without.count == 4)
    let isSet: ([UInt8]) -> Bool = { [7, 8].contains($0[0] & 0x1F) }
    let units = with[0] + with[1] + without[2] + without[3].filter { !isSet($0) }
    let file = folder.file("sets.h264")
    try Data(units.flatMap { [0, 0, 0, 1] + $0 }).write(to: file)

    let restarts = try Indexed(file, in: folder).decoding.run().headers.restarts
    #expect(restarts.starts(with: [0, 10]) && !restarts.contains(30), "\(restarts)")
  }

  /// The units of a stream with start codes (ITU-T H.264, annex B), by groups that begin with a
  /// sequence parameter set.
  private static func groups(of file: Data) -> [[[UInt8]]] {
    let bytes = [UInt8](file)
    let starts = bytes.indices.dropLast(3).filter {
      bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1
    }
    var groups: [[[UInt8]]] = []
    for (number, start) in starts.enumerated() {
      let end = number + 1 < starts.count ? starts[number + 1] : bytes.count
      var unit = Array(bytes[(start + 3)..<end])
      while unit.last == 0 { unit.removeLast() }
      if unit[0] & 0x1F == 7 { groups.append([]) }
      if !groups.isEmpty { groups[groups.count - 1].append(unit) }
    }
    return groups
  }

  @Test func `a decoder that learns to delay more does not show what a later one shows`() {
    var facts = TrackFacts()
    #expect(facts.hasSteadyDelay)
    facts.delays = 2...2
    #expect(facts.hasSteadyDelay)
    facts.delays = 1...2
    #expect(!facts.hasSteadyDelay)
  }

  /// Its decoder ends where the packet ends, without an error.
  @Test func `an image that is partly unwritten shows without a sign of damage`() throws {
    let clip = Clip(
      name: "cut VP8", file: "cut.ivf",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "40"],
      output: [
        "-c:v", "libvpx", "-g", "25", "-auto-alt-ref", "0", "-b:v", "1M", "-cpu-used", "8",
        "-deadline", "realtime",
      ],
      change: {
        var packets = VideoPackets(ivf: $0)
        packets.packets[7] = packets.packets[7].prefix(packets.packets[7].count / 3)
        return packets.ivf
      })
    let reader = try ImportedClip(clip).reader(ReadOptions())
    let causes = try reader.entries(of: 0, sequences: 0..<40).compactMap(\.damage)

    #expect(!causes.isEmpty && causes.allSatisfy { $0 == FrameCause.varies })
  }

  /// 1,600 packets with a key packet each 100.
  private func entrySample(restarts: [Int]) -> EntrySample? {
    let facts = FactList(
      (0..<1_600).map {
        DecodedFact(
          packet: $0, shown: 0, pts: nil, bestEffort: nil, duration: 0,
          digest: Digest128(high: 0, low: UInt64($0)),
          shape: DecodedFact.Shape(width: 2, height: 2, format: .i420))
      })
    return EntrySample(
      Array(0..<1_600), of: facts, restarts: restarts,
      keys: Array(stride(from: 0, to: 1_600, by: 100))
    )
  }

  @Test func `the first images after some restarts are decoded, and all others`() throws {
    let sample = try #require(entrySample(restarts: [0, 200, 300, 900]))
    let open = Set(0..<1_600).subtracting(0..<100).subtracting(200..<400).subtracting(900..<1_000)

    #expect(Set(sample.decoded) == open.union(200..<232).union(900..<932).union(300..<332))
    #expect(sample.decoded == sample.decoded.sorted())
    #expect(entrySample(restarts: []) == nil)
  }

  @Test func `an image of the sample that differs refutes all`() throws {
    let sample = try #require(entrySample(restarts: [0, 200, 900]))
    var entries = EntryTable(count: 1_600)
    for fact in sample.decoded {
      entries[fact] = EntryFinder.Entry(packet: fact / 100 * 100, crossesDamage: false)
    }
    #expect(sample.agrees(with: entries))
    sample.complete(&entries)
    #expect((0..<1_600).allSatisfy { entries[$0]?.packet == $0 / 100 * 100 })

    entries[931] = EntryFinder.Entry(packet: 800, crossesDamage: false)
    #expect(!sample.agrees(with: entries))
    entries[931] = EntryFinder.Entry(packet: 900, crossesDamage: true)
    #expect(!sample.agrees(with: entries))
  }
}
