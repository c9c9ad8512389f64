import Foundation
import RetakeCore
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct ReaderTests {
  @Test func `reading changes nothing in the folder`() throws {
    let imported = try ImportedClip(.twoTracks)
    let before = try contents(of: imported.folder.url.path)

    let reader = try imported.reader()
    for track in reader.tracks {
      for sequence in 0..<track.frameCount {
        _ = try reader.frame(FrameID(track: track.track, sequence: sequence))
      }
      _ = try reader.entries(of: track.track, sequences: 0..<track.frameCount)
    }
    _ = try reader.info()
    _ = try SessionCheck(path: imported.path, decodes: true).run()
    _ = try SessionList(in: imported.folder.file("Recordings").path)

    #expect(try contents(of: imported.folder.url.path) == before)
    #expect(before.keys.filter { $0.hasSuffix("sqlite-wal") }.isEmpty)
  }

  @Test func `a session that was never closed is read from a copy and as recovered`() throws {
    let imported = try ImportedClip(.openGOP)
    let store = try imported.reader().index.store
    let folder = SessionFolder(path: imported.folder.file("open").path)
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: imported.path + "/media", toPath: folder.media)
    let writer = try StoreWriter(creating: folder.database, durability: .recording)
    writer.append(try store.segments())
    writer.append(try store.segmentTracks())
    writer.append(try store.packets(track: 0, indexes: 0..<200))
    writer.append(
      try store.frames(track: 0, sequences: 0..<200).map {
        var frame = $0
        if frame.entry == frame.packet { frame.entry = nil }
        return frame
      })
    try writer.commit()
    let before = try contents(of: folder.path)

    let reader = try SessionReader(
      opening: folder.path, options: ReadOptions(verifiesPixels: true))

    #expect(before.keys.contains("session.sqlite-wal"))
    #expect(try reader.status() == .unclosed)
    for sequence in stride(from: 119, through: 0, by: -7) {
      _ = try reader.frame(FrameID(track: 0, sequence: sequence))
    }
    #expect(try reader.info().frames.captured == 120)
    #expect(try contents(of: folder.path) == before)
    try writer.close()
  }

  @Test func `chains are read by several threads at once and give the same frames`() throws {
    let imported = try ImportedClip(.openGOP)
    let ordered = try imported.reader(ReadOptions(framesPerChain: nil))
    let ids = (0..<120).map { FrameID(track: 0, sequence: $0) }
    let expected = try ids.map { try ordered.frame($0).pixelDigest }
    let reader = try imported.reader()
    let chains = Dictionary(grouping: ids) { reader.chain(of: $0) }

    let found = Found()
    DispatchQueue.concurrentPerform(iterations: chains.count) { chain in
      for id in chains[chain] ?? [] {
        found.add(id.sequence, (try? reader.frame(id))?.pixelDigest)
      }
    }

    #expect(Set(ids.map { ordered.chain(of: $0) }) == [0])
    #expect(chains.keys.sorted() == Array(0..<chains.count))
    #expect(chains.count > 3)
    #expect(found.inOrder == expected)
  }

  @Test(arguments: Clip.all)
  func `pixels do not depend on the decoder's threads`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let reader = try imported.reader(
      ReadOptions(verifiesPixels: true, framesPerChain: nil, decoderThreads: 3))
    for track in reader.tracks {
      let entries = try reader.entries(of: track.track, sequences: 0..<track.frameCount)
      let ids = entries.filter { $0.damage == nil && !$0.isPayloadMissing }.map(\.id)
      #expect(!ids.isEmpty)
      for id in ids + ids.reversed().prefix(20) { _ = try reader.frame(id) }
    }
  }

  @Test func `two tracks have their streams' numbers and their own digests`() throws {
    let both = try ImportedClip(.twoTracks)
    let one = try ImportedClip(.twoTracks, tracks: [2])

    let reader = try both.reader()
    let single = try one.reader()

    #expect(reader.tracks.map(\.track) == [1, 2])
    #expect(reader.tracks.map(\.frameCount) == [30, 25])
    #expect(single.tracks.map(\.track) == [2])
    #expect(both.result.notes.isEmpty && both.result.sensors.map(\.name) == ["sound"])
    #expect(try reader.inputDigest(tracks: [2]) == single.inputDigest(tracks: [2]))
    #expect(try reader.inputDigest(tracks: [1, 2]) == reader.sessionDigest())
    #expect(try reader.sessionDigest() != single.sessionDigest())
    #expect(code { try single.inputDigest(tracks: [1]) } == "session.track.unknown")
    #expect(
      code { try single.frame(FrameID(track: 1, sequence: 0)) } == "session.track.unknown")
    #expect(
      code { try single.frame(FrameID(track: 2, sequence: 25)) } == "session.frame.unknown")
    #expect(
      code { try single.frame(FrameID(track: 2, sequence: -1)) } == "session.frame.unknown")
  }

  @Test func `entries carry times unshifted, and the digests and key flags of packets`() throws {
    let imported = try ImportedClip(.lateStart)
    let reader = try imported.reader()

    let entries = try reader.entries(of: 0, sequences: 5..<8)

    #expect(entries.map(\.id.sequence) == [5, 6, 7])
    #expect(entries[0].timestamp.nanoseconds == 3_667_000_000)
    #expect(entries.allSatisfy { $0.arrival == $0.timestamp })
    #expect(entries.allSatisfy { $0.damage == nil && !$0.isPayloadMissing })
    let frame = try #require(try reader.index.frame(entries[1].id))
    let number = try #require(frame.packet)
    let packet = try #require(try reader.index.packet(track: 0, index: number))
    #expect(entries[1].packetDigest == packet.digest)
    let keys = try reader.entries(of: 0, sequences: 0..<8).map { entry in
      let packet = try reader.index.frame(entry.id)?.packet
      let flags = try packet.flatMap { try reader.index.packet(track: 0, index: $0) }?.flags
      return (stored: flags?.contains(.key), read: entry.isKey)
    }
    #expect(keys.map(\.read) == keys.map(\.stored))
    #expect(keys[0].read == true && keys.contains { $0.read == false })
    #expect(try reader.frame(entries[1].id).timestamp == entries[1].timestamp)
  }

  @Test func `a linked file is not copied and reads the same`() throws {
    let folder = try TemporaryFolder()
    let clip = try Clip.lateStart.make(in: folder)
    let into = folder.file("Recordings").path

    let linked = try SessionImporter(
      ImportOptions(file: clip.path, name: "linked", into: into, link: true)
    ).run()
    let copied = try SessionImporter(
      ImportOptions(file: clip.path, name: "copied", into: into)
    ).run()

    let attributes = try FileManager.default.attributesOfItem(
      atPath: linked.folder.path + "/media/original.mkv")
    #expect(attributes[.referenceCount] as? Int == 2)
    #expect(
      try SessionReader(opening: linked.folder.path).sessionDigest()
        == SessionReader(opening: copied.folder.path).sessionDigest())
    let names = try SessionList(in: into).items.map(\.folder.name)
    #expect(names == ["copied", "linked"])
  }

  @Test func `info tells frames tracks and digests as JSON`() throws {
    let imported = try ImportedClip(.twoTracks)

    let info = try imported.reader().info()
    let data = try JSONEncoder().encode(info)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])

    #expect((object["frames"] as? [String: Int])?["captured"] == 55)
    #expect((object["tracks"] as? [[String: Any]])?.count == 2)
    #expect(object["status"] as? String == "clean")
    #expect((object["sessionDigest"] as? String)?.count == 32)
    #expect(info.tracks[0].codec == "h264" && info.tracks[0].assumed == ["range", "matrix"])
    #expect(info.kind == "imported")
    #expect(info.durationNanoseconds == 966_666_667)
    let notes = try String(contentsOfFile: imported.path + "/NOTES.md", encoding: .utf8)
    #expect(notes.contains("two.mp4") && notes.contains("## Licence"))
  }

  /// A clip that changes its size once.
  private func resized(in folder: TemporaryFolder) throws -> String {
    var joined = Data()
    for size in ["96x64", "64x48"] {
      let part = try Clip(
        name: size, file: "\(size).ts",
        inputs: ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30", "-frames:v", "30"],
        output: ["-c:v", "libx264", "-g", "10", "-bf", "2", "-pix_fmt", "yuv420p"]
      ).make(in: folder)
      joined.append(try Data(contentsOf: part))
    }
    let file = folder.file("joined.ts")
    try joined.write(to: file)
    return file.path
  }

  @Test func `a file with more sizes than a session has segments is refused, with the frame`()
    throws
  {
    let folder = try TemporaryFolder()
    let (file, into) = (try resized(in: folder), folder.file("Recordings").path)
    var importer = SessionImporter(ImportOptions(file: file, into: into))
    importer.segmentsMax = 1

    let error = #expect(throws: SessionError.self) { try importer.run() }

    #expect(error?.code == "session.import.tooManySegments")
    #expect(error?.place?.file == file)
    // The pieces have 30 frames each, and decoders may lose some where they meet.
    #expect(error?.place?.frame.map { (26...34).contains($0.sequence) } == true, "\(error as Any)")
    #expect((try? FileManager.default.subpathsOfDirectory(atPath: into)) ?? [] == [])
    importer.segmentsMax = 2
    #expect(throws: Never.self) { try importer.run() }
  }

  @Test func `a change of size begins a new segment and odd times are flagged`() throws {
    let folder = try TemporaryFolder()
    let file = try resized(in: folder)

    let result = try SessionImporter(
      ImportOptions(file: file, into: folder.file("Recordings").path)
    ).run()

    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    let rows = try reader.index.store.frames(track: 0, sequences: 0..<100)
    #expect(reader.index.segments.count == 2)
    #expect(reader.index.segments[1]?.reason == "64x48 I420")
    #expect(rows.count >= 58)
    #expect(rows.contains { $0.assumed.contains(.ptsBackwards) })
    var sizes: [Int: Int] = [:]
    for row in rows where row.cause == nil {
      let frame = try reader.frame(FrameID(track: 0, sequence: row.sequence))
      sizes[frame.width, default: 0] += 1
    }
    #expect((sizes[96] ?? 0) >= 28 && (sizes[64] ?? 0) >= 28)
  }
}

/// Digests by sequence, from several threads.
private final class Found: @unchecked Sendable {
  private let lock = NSLock()
  private var digests: [Int: Digest128?] = [:]

  func add(_ sequence: Int, _ digest: Digest128?) { lock.withLock { digests[sequence] = digest } }

  var inOrder: [Digest128?] {
    lock.withLock { digests.keys.sorted().map { digests[$0] ?? nil } }
  }
}
