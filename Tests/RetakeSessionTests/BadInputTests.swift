import Foundation
import RetakeCore
import RetakeMedia
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

struct BadInputTests {
  private let folder: TemporaryFolder
  private let into: String

  init() throws {
    folder = try TemporaryFolder()
    into = folder.file("Recordings").path
  }

  private func importing(_ file: String, tracks: [Int] = [], name: String? = nil) -> String? {
    code {
      try SessionImporter(
        ImportOptions(file: file, name: name, into: into, tracks: tracks)
      ).run()
    }
  }

  private var leftovers: [String] {
    (try? FileManager.default.subpathsOfDirectory(atPath: into)) ?? []
  }

  @Test func `what is no media is refused by name and leaves nothing`() throws {
    let text = try folder.write("hello, this is a text\n", to: "text.txt").path
    let empty = try folder.write("", to: "empty.mp4").path
    let playlist = try folder.write(
      "#EXTM3U\n#EXTINF:1,\nother.mp4\n", to: "playlist.mkv"
    ).path
    let clip = try Clip.openGOP.make(in: folder)
    let cut = folder.file("cut.mp4")
    let whole = try Data(contentsOf: clip)
    try whole.prefix(whole.count * 6 / 10).write(to: cut)

    #expect(importing(text) == "media.open.notMedia")
    #expect(importing(empty) == "media.open.empty")
    #expect(importing(playlist) == "media.open.playlist")
    #expect(importing(cut.path) == "media.open.noIndex")
    #expect(importing(folder.url.path) == "media.open.directory")
    #expect(importing(folder.file("none.mp4").path) == "media.open.missing")
    #expect(importing(clip.path, tracks: [5]) == "media.demux.noTrack")
    #expect(importing(clip.path, name: "...") == "session.name.bad")
    #expect(leftovers.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: into))
  }

  private func ffmpeg(_ arguments: String...) throws {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private static let encryption = [
    "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "76a6c65c5ea762046bd749a2e632ccbb",
    "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8",
  ]

  @Test(arguments: [["-c:v", "libx264", "-g", "12"], ["-c:v", "mpeg4", "-g", "6"]])
  func `an encrypted file is called that`(encoder: [String]) throws {
    let clip = try Clip(
      name: "encrypted", file: "secret.mp4",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "30"],
      output: encoder + ["-pix_fmt", "yuv420p"] + Self.encryption
    ).make(in: folder)
    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(ImportOptions(file: clip.path, into: into)).run()
      } as? any CodedError
    #expect(error?.code == "media.decode.encrypted")
    #expect(error?.message == "the video is encrypted")
    #expect(error?.place?.file == clip.path)
    #expect(error?.advice?.contains("-decryption_key KEY -i \(clip.path) -c copy") == true)
    #expect(leftovers.isEmpty)
  }

  @Test func `a file that is encrypted behind a clear beginning is called that`() throws {
    let source = folder.file("source.mkv").path
    let (clear, secret) = (folder.file("clear.mp4"), folder.file("hidden.mp4"))
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "50", "-c:v", "libx264",
      "-g", "10", "-bf", "0", "-pix_fmt", "yuv420p", source)
    try ffmpeg("-i", source, "-c", "copy", clear.path)
    let copied = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-i", source, "-c", "copy"] + Self.encryption
        + [secret.path])
    try #require(copied.status == 0, "\(copied.stderr)")
    let joined = try #require(
      BoxFile.clearBeginning(
        20, of: try Data(contentsOf: clear), then: try Data(contentsOf: secret)))
    let file = folder.file("joined.mp4")
    try joined.write(to: file)
    #expect(importing(file.path) == "media.decode.encrypted")
    #expect(leftovers.isEmpty)
    // Two descriptions that are both clear are not a reason.
    let plain = try #require(
      BoxFile.clearBeginning(
        20, of: try Data(contentsOf: clear), then: try Data(contentsOf: clear)))
    let other = folder.file("plain.mp4")
    try plain.write(to: other)
    #expect(importing(other.path) == nil)
  }

  /// An element of EBML: its number, its size in two bytes, its content.
  private static func element(_ number: [UInt8], _ content: [UInt8]) -> [UInt8] {
    number + [0x40 | UInt8(content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
  }

  @Test func `an encrypted WebM is called that`() throws {
    func element(_ number: [UInt8], _ content: [UInt8]...) -> [UInt8] {
      Self.element(number, content.flatMap(\.self))
    }
    let key = element(
      [0x50, 0x35], element([0x47, 0xE1], [5]), element([0x47, 0xE2], [7, 7, 7]))
    let encodings = element(
      [0x6D, 0x80], element([0x62, 0x40], element([0x50, 0x33], [1]), key))
    let size = element([0xE0], element([0xB0], [64]), element([0xBA], [48]))
    let track = element(
      [0xAE], element([0xD7], [1]), element([0x73, 0xC5], [1]), element([0x83], [1]),
      element([0x86], Array("V_VP8".utf8)), size, encodings)
    let block = element([0xA3], [0x81, 0, 0, 0x80] + (0..<90).map { UInt8(0xFF - $0) })
    let segment = element(
      [0x18, 0x53, 0x80, 0x67],
      element([0x15, 0x49, 0xA9, 0x66], element([0x2A, 0xD7, 0xB1], [0x0F, 0x42, 0x40])),
      element([0x16, 0x54, 0xAE, 0x6B], track),
      element([0x1F, 0x43, 0xB6, 0x75], element([0xE7], [0]), block))
    let head = element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("webm".utf8)))
    let file = folder.file("secret.webm")
    try Data(head + segment).write(to: file)
    #expect(importing(file.path) == "media.decode.encrypted")
    #expect(leftovers.isEmpty)
  }

  @Test func `a file without one good frame is refused, one with some is lossy`() throws {
    let clip = try Clip(
      name: "groups", file: "groups.avi",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "40"],
      output: ["-c:v", "mpeg4", "-g", "20", "-sc_threshold", "1000000000"]
    ).make(in: folder)
    let whole = try SessionImporter(
      ImportOptions(file: clip.path, name: "whole", into: into)
    ).run()
    let index = try SessionReader(opening: whole.folder.path).index
    var bytes = try Data(contentsOf: clip)
    for (packet, code) in [(0, nil), (20, "session.import.noGoodFrame")] {
      let record = try #require(try index.packet(track: 0, index: packet))
      let place = Int(try #require(record.offset))
      for byte in place + record.size / 2..<place + record.size { bytes[byte] = 0x55 }
      let damaged = folder.file("damaged-\(packet).avi")
      try bytes.write(to: damaged)
      #expect(importing(damaged.path) == code)
    }
    #expect(try SessionReader(opening: into + "/damaged-0").status() == .lossy)
    #expect(!FileManager.default.fileExists(atPath: into + "/damaged-20"))
  }

  /// A fragmented MP4 declares its tracks before it has packets of them.
  private func clipWithEmptyTrack() throws -> URL {
    let clip = folder.file("two.mp4")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-f", "lavfi", "-i",
      "testsrc2=size=64x64:rate=30:duration=1", "-map", "0", "-map", "1", "-frames:v:0", "30",
      "-filter:v:1", "trim=start_frame=100", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags",
      "+empty_moov+frag_keyframe", clip.path)
    return clip
  }

  @Test(arguments: ["avc1", "dav1"])
  func `a track without frames is skipped, with a note`(codec: String) throws {
    let clip = try clipWithEmptyTrack()
    var bytes = try Data(contentsOf: clip)
    let second = try #require(bytes.range(of: Data("avc1".utf8), options: .backwards))
    bytes.replaceSubrange(second, with: Data(codec.utf8))
    try bytes.write(to: clip)

    let result = try SessionImporter(ImportOptions(file: clip.path, into: into)).run()

    #expect(result.tracks.map(\.track) == [0] && result.status == .clean)
    let name = codec == "avc1" ? "h264" : "Dolby Vision AV1 ('dav1')"
    #expect(result.notes == ["track 1 (\(name)) has no frames and was skipped"])
    #expect(try SessionReader(opening: result.folder.path).tracks.map(\.frameCount) == [30])
    // It is skipped again when the index is rebuilt.
    let digest = try SessionReader(opening: result.folder.path).sessionDigest()
    try FileManager.default.removeItem(atPath: result.folder.path + "/session.sqlite")
    _ = try SessionRecovery(result.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: result.folder.path).sessionDigest() == digest)
    // If it is requested by its number, it is not skipped.
    let wanted = importing(clip.path, tracks: [1], name: "second")
    #expect(wanted == (codec == "avc1" ? "session.import.noFrames" : "media.decode.noDecoder"))
  }

  /// FFmpeg 7 decodes VVC.
  private static let unknown = [
    ("vvc1", "VVC (H.266) ('vvc1')"), ("dav1", "Dolby Vision AV1 ('dav1')"), ("zzz9", "'zzz9'"),
  ].filter { $0.0 != "vvc1" || !MediaLibraries.hasDecoder(codec: "vvc") }

  @Test(arguments: unknown)
  func `a codec that FFmpeg does not know is named`(tag: String, name: String) throws {
    let clip = try Clip.intraRefresh.make(in: folder)
    var bytes = try Data(contentsOf: clip)
    let place = try #require(bytes.range(of: Data("avc1".utf8), options: .backwards))
    bytes.replaceSubrange(place, with: Data(tag.utf8))
    try bytes.write(to: clip)
    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(ImportOptions(file: clip.path, into: into)).run()
      } as? any CodedError
    #expect(error?.code == "media.decode.noDecoder")
    #expect(error?.message == "there is no decoder for \(name)")
    #expect(error?.advice?.contains("ffmpeg -i \(clip.path) -c:v ffv1 OUT.mkv") == true)
    #expect(leftovers.isEmpty)
  }

  @Test(arguments: [("heic", "HEIC"), ("mif1", "HEIF"), ("zzzz", "HEIC")])
  func `a still image is called that`(brand: String, format: String) throws {
    var bytes = Data([0, 0, 0, 24]) + Data("ftyp\(brand)".utf8) + Data([0, 0, 0, 0])
    bytes += Data("mif1heic".utf8)
    if brand == "zzzz" { bytes.replaceSubrange(16..<24, with: Data("zzzyheic".utf8)) }
    bytes += Data([0, 0, 0, 16]) + Data("meta".utf8) + Data(count: 8)
    bytes += Data([0, 0, 1, 8]) + Data("mdat".utf8) + Data(count: 256)
    let file = folder.file("image.heic")
    try bytes.write(to: file)
    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(ImportOptions(file: file.path, into: into)).run()
      } as? any CodedError
    #expect(error?.code == "media.open.stillImage")
    #expect(error?.message == "this is a still image (\(format)), not a video")
    #expect(error?.advice?.contains("heif-convert \(file.path) OUT.png") == true)
    #expect(leftovers.isEmpty)
  }

  @Test func `an attached picture is skipped with a note`() throws {
    let clip = try Clip.openGOP.make(in: folder)
    let cover = folder.file("cover.png")
    try ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=96x64", "-frames:v", "1", "-y", cover.path)
    let file = folder.file("covered.mp4").path
    try ffmpeg(
      "-i", clip.path, "-i", cover.path, "-map", "0:v", "-map", "1:v", "-c", "copy",
      "-disposition:v:1", "attached_pic", "-y", file)

    let result = try SessionImporter(ImportOptions(file: file, into: into)).run()

    #expect(result.status == .clean && result.tracks.map(\.track) == [0])
    #expect(
      result.notes == ["stream 1 (attached picture, png) is kept in the file, not indexed"])
    #expect(importing(file, tracks: [1], name: "cover") == "media.demux.noTrack")
    let database = result.folder.path + "/session.sqlite"
    let digest = try SessionReader(opening: result.folder.path).index.store.digest()
    try Data("gone".utf8).write(to: URL(filePath: database))
    _ = try SessionRecovery(result.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: result.folder.path).index.store.digest() == digest)
  }

  @Test func `sound alone is refused`() throws {
    let sound = folder.file("sound.wav").path
    _ = try runFFmpeg(
      arguments: ["-v", "error", "-f", "lavfi", "-i", "sine=duration=0.2", sound])

    let found = importing(sound)

    #expect(found == "media.demux.noVideo" || found == "media.open.container")
    #expect(leftovers.isEmpty)
  }

  @Test func `a name that exists is refused and left alone`() throws {
    let clip = try Clip.lateStart.make(in: folder)
    #expect(importing(clip.path, name: "yard") == nil)
    let before = try contents(of: into)

    #expect(importing(clip.path, name: "yard") == "session.name.taken")
    #expect(try contents(of: into) == before)
  }

  @Test(arguments: [
    ImportProgress.Phase.copying, .indexing, .decoding, .checking,
  ])
  func `an interrupted import leaves nothing`(phase: ImportProgress.Phase) throws {
    let clip = try Clip(
      name: "long", file: "long.mp4",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-frames:v", "300"],
      output: ["-c:v", "libx264", "-g", "10", "-pix_fmt", "yuv420p"]
    ).make(in: folder)
    let options = ImportOptions(file: clip.path, into: into)

    let found = code { try SessionImporter(options) { $0.phase != phase }.run() }

    #expect(found == "session.interrupted")
    #expect(!FileManager.default.fileExists(atPath: into))
  }

  /// All bytes of such a file are read for its checksums, before its first packet.
  @Test func `the pass over the checksums of a Matroska file can be interrupted`() throws {
    let clip = try Clip.lateStart.make(in: folder)
    let stream = try MediaDemuxer(path: clip.path).videoStream()
    var (calls, last) = (0, -1)
    let indexer = PacketIndexer(file: try MediaFile(path: clip.path), streams: [stream]) {
      (calls, last) = (calls + 1, $0)
      return calls < 3
    }

    #expect(code { _ = try indexer.run() } == "session.interrupted")
    #expect(calls == 3 && last == 0)
  }

  @Test func `an import of packets that are all refused can be interrupted`() throws {
    // Parameter sets and the beginning of a key picture, without its content.
    let packet: [UInt8] = [
      0, 0, 1, 0x67, 0x42, 0, 0x1E, 0xF4, 5, 0, 1, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80, 0, 0, 1, 0x65,
      0x88, 0x84,
    ]
    let file = folder.file("starts.h264")
    try Data((0..<256).flatMap { _ in packet }).write(to: file)
    let options = ImportOptions(file: file.path, into: into)
    #expect(code { try SessionImporter(options).run() } == "media.decode.refused")
    let found = code { try SessionImporter(options) { $0.phase != .decoding }.run() }
    #expect(found == "session.interrupted")
  }

  @Test func `what a killed import left is removed and what another builds is not`() throws {
    let clip = try Clip.lateStart.make(in: folder)
    try folder.write("x", to: "Recordings/.yard.0123ABCD/media/original.mkv")
    try folder.write("x", to: "Recordings/.yard.notes")
    let held = try folder.write("x", to: "Recordings/.yard.4567CDEF/media/original.mkv")
    let lock = try FileHandle(
      forReadingFrom: held.deletingLastPathComponent().deletingLastPathComponent())
    #expect(flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0)

    #expect(importing(clip.path, name: "yard") == nil)

    let names = try FileManager.default.contentsOfDirectory(atPath: into).sorted()
    #expect(names == [".yard.4567CDEF", ".yard.notes", "yard"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: into + "/yard").sorted()
        == ["NOTES.md", "media", "session.sqlite"])
    try lock.close()
  }

  @Test func `folders of killed imports of other names are removed, and a user's are not`() throws {
    let clip = try Clip.lateStart.make(in: folder)
    try folder.write("x", to: "Recordings/.gone.0123ABCD/media/original.mkv")
    try FileManager.default.createDirectory(
      atPath: into + "/.empty.0123ABCD", withIntermediateDirectories: true)
    try folder.write("x", to: "Recordings/.held.0123ABCD/media/original.mkv")
    try folder.write("x", to: "Recordings/.hid.20260131/media/original.mkv")
    try folder.write("x", to: "Recordings/.lower.0123abcd/media/original.mkv")
    try folder.write("x", to: "Recordings/.other.0123ABCD/notes")
    try folder.write("x", to: "Recordings/.file.0123ABCD")
    let lock = try FileHandle(forReadingFrom: URL(filePath: into + "/.held.0123ABCD"))
    #expect(flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0)

    #expect(importing(clip.path, name: "yard") == nil)

    let names = try FileManager.default.contentsOfDirectory(atPath: into).sorted()
    #expect(
      names == [
        ".file.0123ABCD", ".held.0123ABCD", ".hid.20260131", ".lower.0123abcd", ".other.0123ABCD",
        "yard",
      ])
    try lock.close()
  }

  @Test func `names become safe for a folder`() throws {
    #expect(try SessionFolder.sanitized(name: "yard") == "yard")
    #expect(try SessionFolder.sanitized(name: "../../etc/passwd") == "etc-passwd")
    #expect(try SessionFolder.sanitized(name: "Grüße aus  Köln!") == "Gr-e-aus-K-ln")
    #expect(try SessionFolder.sanitized(name: String(repeating: "a", count: 99)).count == 64)
    #expect(code { try SessionFolder.sanitized(name: "///") } == "session.name.bad")
    #expect(code { try SessionFolder.sanitized(name: "") } == "session.name.bad")
  }

  @Test func `a name that is not safe is refused with the nearest one that is`() throws {
    for (name, safe) in [("a/b", "a-b"), ("../up", "up"), ("Grüße", "Gr-e"), ("a b", "a-b")] {
      let error = #expect(throws: SessionError.self) { try SessionFolder.checked(name: name) }
      #expect(error?.code == "session.name.bad" && error?.advice == "Write: --name \(safe)")
    }
    #expect(try SessionFolder.checked(name: "yard-2_b.c") == "yard-2_b.c")
    let clip = try Clip.lateStart.make(in: folder)
    #expect(importing(clip.path, name: "a/b") == "session.name.bad")
    #expect(!FileManager.default.fileExists(atPath: into))
  }

  @Test func `a picture that is too large is refused with the bound`() throws {
    let clip = try Clip(
      name: "large", file: "large.mkv",
      inputs: ["-f", "lavfi", "-i", "color=size=16000x9000:rate=1", "-frames:v", "1"],
      output: ["-c:v", "png"]
    ).make(in: folder)
    let error =
      #expect(throws: (any Error).self) {
        try SessionImporter(ImportOptions(file: clip.path, into: into)).run()
      } as? any CodedError
    #expect(error?.code == "media.decode.tooLarge")
    #expect(
      error?.message == "an image of 16000x9000 has more than 134217728 pixels, "
        + "the largest size that is decoded")
    #expect(leftovers.isEmpty)
  }

  @Test func `what is no session is refused by name`() throws {
    let empty = folder.file("empty").path
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    let file = try folder.write("x", to: "file").path

    #expect(code { try SessionReader(opening: empty) } == "session.open.notSession")
    #expect(code { try SessionReader(opening: file) } == "session.open.notSession")
    #expect(code { try SessionReader(opening: empty + "/none") } == "session.open.notSession")
    #expect(code { try SessionCheck(path: empty).run() } == "session.open.notSession")
    #expect(code { try SessionRecovery(empty, fromMedia: true).run() } == "session.open.notSession")
  }
}
