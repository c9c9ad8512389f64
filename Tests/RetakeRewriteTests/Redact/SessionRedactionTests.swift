import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite
@testable import RetakeSession

@Suite struct SessionRedactionTests {
  private static let ffv1 = ReplayEncoding(
    name: "ffv1", isLossless: true, isIntraOnly: true, format: { $0 }
  ) { EncoderSettings(encoder: "ffv1", for: $0, timeBase: .milliseconds) }

  /// Two tracks, sound, positions and a note.
  private func session(in folder: TemporaryFolder) throws -> String {
    let clip = try Clip.twoTracks.make(in: folder)
    let log = try folder.write("t,latitude,longitude\n0,48.1,11.5\n0.5,48.2,11.6\n", to: "gps.csv")
    let imported = try SessionImporter(
      ImportOptions(
        file: clip.path, name: "secretyard", into: folder.file("R").path, sensors: [log.path])
    ).run()
    try SessionNote(of: imported.folder.path).set("the house of Mr Smith")
    let sensors = try SessionReader(opening: imported.folder.path).sensors
    #expect(Set(sensors.map(\.name)) == ["gps", "sound"])
    return imported.folder.path
  }

  private func track(of path: String) throws -> TrackDescription {
    try #require(try SessionReader(opening: path).tracks.first)
  }

  /// A box that moves, in each frame.
  private func areas(_ track: TrackDescription) -> [[RedactedArea]] {
    (0..<track.frameCount).map { frame in
      let box = Box(x: Double(frame), y: 20, width: 12, height: 16)
      return [
        RedactedArea(
          box, margin: 0.2, frameWidth: track.width, frameHeight: track.height, reason: .detected)
      ].compactMap(\.self)
    }
  }

  private func redact(
    _ path: String, in folder: TemporaryFolder, name: String = "public", key: String? = nil,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) throws -> (copy: SessionCopyResult, parent: String?) {
    let redaction = try SessionRedaction(
      of: path,
      .init(
        target: SessionTarget(into: folder.file("Out").path, name: name), encoding: Self.ffv1,
        keyFile: key), report: report)
    let track = try track(of: path)
    let copy = try redaction.run(track: track.track, areas: areas(track), list: "{}\n")
    return (copy, redaction.parent)
  }

  @Test func `pixels of areas are averaged, and all others and the intervals stay`() throws {
    let folder = try TemporaryFolder()
    let path = try session(in: folder)
    let before = try contents(of: path)
    let copy = try redact(path, in: folder).copy
    #expect(try contents(of: path) == before)
    let (old, new) = (try SessionReader(opening: path), try SessionReader(opening: copy.path))
    let track = try track(of: path)
    let areas = areas(track)
    #expect(new.tracks.map(\.track) == [track.track])
    #expect(copy.frames == track.frameCount && copy.status == .clean)
    let range = 0..<track.frameCount
    let (was, entries) = (
      try old.entries(of: track.track, sequences: range),
      try new.entries(of: track.track, sequences: range)
    )
    let origin = try #require(was.first).timestamp.nanoseconds
    for (one, two) in zip(was, entries) {
      #expect(two.timestamp.nanoseconds == one.timestamp.nanoseconds - origin)
      #expect(two.arrival.nanoseconds == one.arrival.nanoseconds - origin)
      let original = try old.frame(one.id)
      let redacted = try new.frame(two.id)
      #expect(redacted.pixelDigest != original.pixelDigest)
      let wanted = try original.averaged(in: areas[one.id.sequence])
      #expect(redacted.pixelDigest == wanted.pixelDigest, "\(one.id)")
    }
    let diagnosis = try SessionCheck(path: copy.path, decodes: true).run()
    #expect(diagnosis.isHealthy, "\(diagnosis.findings)")
  }

  @Test func `no packet, sound, position, note or name of the original is in the copy`() throws {
    let folder = try TemporaryFolder()
    let path = try session(in: folder)
    let copy = try redact(path, in: folder).copy
    let files = try contents(of: copy.path)
    let track = try track(of: path).track
    #expect(
      files.keys.sorted() == [
        "NOTES.md", "media", "media/redaction.jsonl", "media/video-t\(track)-00000.mkv",
        "session.sqlite",
      ])
    let (old, new) = (try SessionReader(opening: path), try SessionReader(opening: copy.path))
    #expect(new.sensors.isEmpty && new.tracks.count == 1)
    #expect(try new.events().isEmpty && new.liveRuns().isEmpty)
    let info = try new.info()
    #expect(info.source == nil && info.note == nil && info.started == nil)
    for word in ["secretyard", "two.mp4", "Smith", "latitude", "\(try old.index.store.digest())"] {
      for (name, bytes) in files {
        #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) in \(name)")
      }
    }
    let media = try Data(contentsOf: folder.file("R/secretyard/media/original.mp4"))
    let packets = try old.index.tracks.flatMap {
      try old.index.store.packets(track: $0, indexes: 0..<9_999)
    }
    #expect(packets.count > 50)
    for packet in packets {
      let start = Int(try #require(packet.offset))
      // Smaller packets may be the same by chance.
      guard packet.size > 16 else { continue }
      let bytes = media.subdata(in: start..<start + packet.size)
      #expect(files.values.allSatisfy { $0.range(of: bytes) == nil }, "packet \(packet.index)")
    }
    #expect(try new.index.store.meta(SessionRedaction.fact) == "{}")
  }

  @Test func `tags, chapters, subtitles and attachments of the container are left out`() throws {
    let folder = try TemporaryFolder()
    let words = try folder.write("1\n00:00:00,000 --> 00:00:00,500\nthe-subtitle\n", to: "a.srt")
    let notes = try folder.write("the-attachment", to: "notes.txt")
    let tags = try folder.write(
      ";FFMETADATA1\ntitle=the-title\nlocation=+48.1000+011.5000/\n[CHAPTER]\nTIMEBASE=1/1000\n"
        + "START=0\nEND=400\ntitle=the-chapter\n", to: "tags.txt")
    let clip = try Clip(
      name: "tags", file: "tags.mkv",
      inputs: [
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30:duration=1", "-i", words.path, "-i",
        tags.path,
      ],
      output: [
        "-map", "0", "-map", "1", "-map_metadata", "2", "-map_chapters", "2", "-metadata:s:v",
        "title=the-stream", "-metadata:s:v", "timecode=10:11:12:13", "-attach", notes.path,
        "-metadata:s:t", "mimetype=text/plain", "-c:v", "mpeg4", "-c:s", "srt",
      ]
    ).make(in: folder)
    let path = try SessionImporter(
      ImportOptions(file: clip.path, name: "tags", into: folder.file("R").path)
    ).run().folder.path
    let copy = try redact(path, in: folder).copy
    for word in [
      "the-subtitle", "the-attachment", "the-title", "+48.1000", "the-chapter", "the-stream",
      "10:11:12:13",
    ] {
      let bytes = Data(word.utf8)
      let (old, new) = (try contents(of: path).values, try contents(of: copy.path).values)
      #expect(old.contains { $0.range(of: bytes) != nil }, "\(word)")
      #expect(new.allSatisfy { $0.range(of: bytes) == nil }, "\(word)")
    }
  }

  @Test func `the same session makes the same bytes`() throws {
    let folder = try TemporaryFolder()
    let path = try session(in: folder)
    let one = try redact(path, in: folder).copy
    let two = try redact(path, in: folder, name: "other").copy
    #expect(try contents(of: one.path) == contents(of: two.path))
  }

  @Test func `with a key the original is named by a code, and the digest is nowhere`() throws {
    let folder = try TemporaryFolder()
    let path = try session(in: folder)
    let digest = "\(try SessionReader(opening: path).index.store.digest())"
    let key = [UInt8](0..<32)
    let file = folder.file("parents.key")
    try Data(key).write(to: file)
    let result = try redact(path, in: folder, key: file.path)
    var hmac = HmacSha256(key: key)
    hmac.append([UInt8](digest.utf8))
    let wanted = hmac.finish().map { String(format: "%02x", $0) }.joined()
    #expect(result.parent == wanted && wanted.count == 64)
    let store = try SessionReader(opening: result.copy.path).index.store
    #expect(try store.meta(SessionRedaction.fact) == "{\"parent\":\"\(wanted)\"}")
    for bytes in try contents(of: result.copy.path).values {
      #expect(bytes.range(of: Data(digest.utf8)) == nil)
    }
    try Data(key.prefix(15)).write(to: file)
    #expect(
      code { try redact(path, in: folder, name: "b", key: file.path) } == "session.redact.key")
    let missing = folder.file("missing.key").path
    #expect(code { try redact(path, in: folder, name: "b", key: missing) } == "session.redact.key")
  }

  @Test func `a copy that is stopped leaves no file, and a name that is taken is refused`() throws {
    let folder = try TemporaryFolder()
    let path = try session(in: folder)
    let stopped = code { try redact(path, in: folder) { $0.done < 40 } }
    #expect(stopped == "session.interrupted")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Out").path))
    _ = try redact(path, in: folder)
    #expect(code { try redact(path, in: folder) } == "session.name.taken")
    #expect(code { try redact(path + "x", in: folder, name: "c") } != nil)
  }
}
