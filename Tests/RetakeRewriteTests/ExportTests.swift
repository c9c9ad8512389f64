import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite

@Suite struct ExportTests {
  private func text(
    _ path: String, _ rows: SessionExport.Rows, _ form: SessionExport.Form, run: Int? = nil
  ) throws -> String {
    var text = ""
    try SessionExport(of: path).table(rows, as: form, run: run) { text += $0 }
    return text
  }

  @Test func `an imported file goes out as it came in`() throws {
    let imported = try ImportedClip(.openGOP)
    let out = imported.folder.file("out.mp4")
    #expect(try SessionExport(of: imported.path).media(to: out.path).map(\.packets) == [120])
    #expect(try Data(contentsOf: out) == Data(contentsOf: imported.source))
    #expect(
      code { try SessionExport(of: imported.path).media(to: out.path) }
        == "session.export.exists")
  }

  @Test(arguments: ["out.mkv", "out.nut", "out.mov"])
  func `another container gets the same packets`(name: String) throws {
    let imported = try ImportedClip(.openGOP)
    let out = imported.folder.file(name).path
    try SessionExport(of: imported.path).media(to: out)
    let demuxer = try MediaDemuxer(path: out)
    var digests: [Digest128] = []
    while let packet = try demuxer.nextPacket() { digests.append(packet.digest) }
    let store = try imported.reader().index.store
    #expect(try digests == store.packets(track: 0, indexes: 0..<999).map(\.digest))
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(!left.contains { $0.hasPrefix(".") })
  }

  @Test(arguments: ["mov", "mp4", "nut"])
  func `rotation and sound are kept or named`(suffix: String) throws {
    let folder = try TemporaryFolder()
    let made = try runFFmpeg(arguments: [
      "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.2",
      "-f", "lavfi", "-i", "sine=duration=0.2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-c:a",
      "aac", folder.file("plain.mkv").path,
    ])
    try #require(made.status == 0, "\(made.stderr)")
    // The original must have another suffix than the export.
    let (upright, turned) = (folder.file("upright.mov").path, folder.file("turned.m4v").path)
    let copied = try runFFmpeg(arguments: [
      "-v", "error", "-i", folder.file("plain.mkv").path, "-an", "-c", "copy", upright,
    ])
    try #require(copied.status == 0, "\(copied.stderr)")
    try turnMovie(upright, by: 270, into: turned)
    let stream = try MediaDemuxer(path: turned).videoStream()
    #expect(stream.rotationDegrees == 270)
    let options = ImportOptions(file: turned, into: folder.url.path)
    let session = try SessionImporter(options).run().folder

    let out = folder.file("out.\(suffix)").path
    let media = try SessionExport(of: session.path).media(to: out)
    let turn = try MediaDemuxer(path: out).videoStream().turn
    if suffix == "nut" {
      #expect(
        media[0].notes == [
          "out.nut does not store the rotation of 270°; .mov and .mp4 store it"
        ])
    } else {
      #expect(turn == stream.turn && media[0].notes.isEmpty)
    }

    let sound = ImportOptions(file: folder.file("plain.mkv").path, into: folder.url.path)
    let second = try SessionImporter(sound).run().folder
    let notes = try SessionExport(of: second.path)
      .media(to: folder.file("two.\(suffix)").path)[0].notes
    #expect(notes.first?.hasPrefix("the sound is left out; the original has it: ") == true)
    #expect(notes.last?.contains("sensor") == true, "the sound became a sensor: \(notes)")
    let copy = try SessionExport(of: second.path).media(to: folder.file("copy.mkv").path)
    #expect(copy[0].notes.isEmpty)
  }

  @Test(arguments: [Clip.elementary, .interlaced])
  func `packets without times get those of the session`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let out = imported.folder.file("out.mkv").path
    try SessionExport(of: imported.path).media(to: out)
    let demuxer = try MediaDemuxer(path: out)
    var times: [Int64] = []
    while let packet = try demuxer.nextPacket() {
      let time = packet.pts.flatMap { Timestamp(pts: $0, timeBase: TimeBase(1, 1_000)) }
      times.append(time?.nanoseconds ?? -1)
    }
    let store = try imported.reader().index.store
    // Matroska has milliseconds.
    let frames = try store.frames(track: 0, sequences: 0..<999).map {
      ($0.ptsNanoseconds + 500_000) / 1_000_000 * 1_000_000
    }
    #expect(Set(times) == Set(frames))
  }

  @Test(arguments: [
    (Clip.openGOP, "out.webm", "session.export.codec"),
    (Clip.hevc, "out.avi", "session.export.codec"),
    (Clip.motionJPEG, "out.ts", "session.export.differs"),
    (Clip.oddSize, "out.ts", "session.export.differs"),
    (
      Clip(
        name: "animation", file: "animation.mov",
        inputs: ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-frames:v", "10"],
        output: ["-c:v", "qtrle"]), "out.mp4", "session.export.codec"
    ),
  ])
  func `a container that does not give the frames back is refused, and the advice works`(
    clip: Clip, name: String, code: String
  ) throws {
    let imported = try ImportedClip(clip)
    let out = imported.folder.file(name).path

    let error =
      #expect(throws: (any Error).self) {
        try SessionExport(of: imported.path).media(to: out)
      } as? any CodedError

    #expect(error?.code == code, "\(String(describing: error))")
    #expect(!FileManager.default.fileExists(atPath: out))
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(left.sorted() == ["Recordings", clip.file].sorted())
    let words = try #require(error?.advice).split(separator: " ").map(String.init)
    #expect(
      words.prefix(7)
        == "Use another container: retake session export \(imported.path)"
        .split(separator: " ").map(String.init)[...])
    let other = try #require(words.last)
    #expect(try SessionExport(of: imported.path).media(to: other).count == 1)
  }

  @Test func `what is read back has to have every frame, with its pixels`() throws {
    let (mine, other) = (try ImportedClip(.openGOP), try ImportedClip(.intraRefresh))
    func check(_ file: URL, _ written: WrittenPart) throws {
      let reader = try SessionReader(
        SessionFolder(path: mine.path), options: ReadOptions(framesPerChain: nil))
      let stream = MediaStream(try #require(reader.index.parts[0]?[0]))
      try ExportProof(
        reader: reader, track: 0, file: file.path, stream: stream, description: "h264 in .mp4"
      ) { _ in true }.check(written)
    }
    let whole = WrittenPart(numbers: 0...119, packets: 120)
    #expect(code { try check(mine.source, whole) } == nil)
    #expect(
      code { try check(mine.source, WrittenPart(numbers: 0...118)) }
        == "session.export.differs")
    let pixels = #expect(throws: SessionError.self) { try check(other.source, whole) }
    #expect(pixels?.cause == "the pixels of its frame 0 are others")
    let smaller = try Clip(
      name: "smaller", file: "smaller.mp4",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-frames:v", "120"],
      output: ["-c:v", "mpeg4"]
    ).make(in: mine.folder)
    let size = #expect(throws: SessionError.self) { try check(smaller, whole) }
    #expect(size?.cause == "its frame 0 is 64x48, not 96x64")
    let shorter = mine.folder.file("shorter.mp4")
    let cut = try runFFmpeg(
      arguments: [
        "-v", "error", "-i", mine.source.path, "-c", "copy", "-frames:v", "96", shorter.path,
      ])
    try #require(cut.status == 0, "\(cut.stderr)")
    let count = #expect(throws: SessionError.self) { try check(shorter, whole) }
    #expect(count?.cause?.hasSuffix("frames, not 120") == true)
    // With a hidden packet, only the session's own frames count.
    #expect(code { try check(mine.source, WrittenPart(numbers: 0...95, hidden: 24)) } == nil)
    #expect(
      code { try check(shorter, WrittenPart(numbers: 0...119, hidden: 1)) }
        == "session.export.differs")
    let words = try mine.folder.write("no media", to: "words.mp4")
    #expect(code { try check(words, whole) } == "session.export.differs")
  }

  @Test func `packets before an edit list's start go along, and the frames stay`() throws {
    let imported = try ImportedClip(.openGOP)
    let edited = imported.folder.file("edited.mp4")
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-ss", "0.5", "-i", imported.source.path, "-c", "copy", edited.path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let session = try SessionImporter(
      ImportOptions(file: edited.path, into: imported.folder.file("Recordings").path)
    ).run()
    let frames = session.tracks[0].frames
    let out = imported.folder.file("edited.mkv").path
    let written = try SessionExport(of: session.folder.path).media(to: out)
    #expect(written.count == 1 && written[0].packets > frames)
  }

  @Test func `a session with damaged frames gives the good ones`() throws {
    let folder = try TemporaryFolder()
    let clip = try Clip(
      name: "groups", file: "groups.mkv",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "60"],
      output: ["-c:v", "mpeg4", "-g", "20", "-sc_threshold", "1000000000"]
    ).make(in: folder)
    let whole = try SessionImporter(
      ImportOptions(file: clip.path, name: "whole", into: folder.file("R").path)
    ).run()
    let index = try SessionReader(opening: whole.folder.path).index
    let record = try #require(try index.packet(track: 0, index: 20))
    var bytes = try Data(contentsOf: clip)
    let place = Int(try #require(record.offset))
    for byte in place + record.size / 2..<place + record.size { bytes[byte] = 0x55 }
    let damaged = folder.file("damaged.mkv")
    try bytes.write(to: damaged)
    let session = try SessionImporter(
      ImportOptions(file: damaged.path, name: "damaged", into: folder.file("R").path)
    ).run()
    #expect(session.status == .lossy && session.tracks[0].damaged == 20)
    let out = folder.file("out.mp4").path
    #expect(try SessionExport(of: session.folder.path).media(to: out).map(\.packets) == [60])
  }

  @Test func `an original that was changed since its import does not go out`() throws {
    let imported = try ImportedClip(.openGOP)
    let original = URL(filePath: imported.path + "/media/original.mp4")
    var bytes = try Data(contentsOf: original)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: original)
    let out = imported.folder.file("out.mp4").path
    #expect(
      code { try SessionExport(of: imported.path).media(to: out) } == "session.export.original")
    #expect(!FileManager.default.fileExists(atPath: out))
  }

  @Test func `frames are written as CSV and JSON lines, one a row`() throws {
    let imported = try ImportedClip(.lateStart)
    let csv = try text(imported.path, .frames, .csv).components(separatedBy: "\r\n")
    #expect(
      csv.first
        == "track,sequence,pts,ptsNanoseconds,arrivalNanoseconds,packet,entry,pixelDigest,cause,"
        + "assumed")
    #expect(csv.count == 22 && csv.last == "")
    #expect(csv[1].hasPrefix("0,0,3500,3500000000,3500000000,0,0,"))
    let lines = try text(imported.path, .frames, .jsonLines).split(separator: "\n")
    #expect(lines.count == 20)
    let object = try JSONSerialization.jsonObject(with: Data(lines[3].utf8)) as? [String: Any]
    #expect(object?["sequence"] as? Int == 3 && object?["cause"] is NSNull)
    let packets = try text(imported.path, .packets, .csv).components(separatedBy: "\r\n")
    #expect(packets.count == 22)
  }

  @Test func `commas, quotes and line breaks stay inside their field`() throws {
    let imported = try ImportedClip(.lateStart)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    let json = #"{"text":"a, \"b\"\nc"}"#
    writer.append([
      EventRecord(ordinal: 0, timeNanoseconds: 5, source: "app", kind: "no,te", json: json)
    ])
    writer.append([RunRecord(run: 1, kind: "live", pipeline: "{}", startedNanoseconds: 0)])
    writer.append([DecisionRecord(run: 1, ordinal: 0, line: "@0 motion 0:0 start")])
    try writer.close()
    let csv = try text(imported.path, .events, .csv)
    #expect(
      csv == "ordinal,timeNanoseconds,track,source,kind,json\r\n"
        + #"0,5,,app,"no,te","{""text"":""a, \""b\""\nc""}""# + "\r\n")
    #expect(
      try text(imported.path, .decisions, .jsonLines)
        == #"{"line":"@0 motion 0:0 start","ordinal":0,"run":1}"# + "\n")
    #expect(code { try text(imported.path, .decisions, .csv, run: 4) } == "session.run.none")
    #expect(code { try text(imported.path, .results, .csv) } == "session.export.nothing")
  }

  @Test func `a comma or a quote under an accent is one for readers of CSV`() throws {
    let imported = try ImportedClip(.lateStart)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.append([
      EventRecord(ordinal: 0, timeNanoseconds: 5, source: "app", kind: "a,\u{301}b"),
      EventRecord(ordinal: 1, timeNanoseconds: 6, source: "app", kind: "c\"\u{301}d"),
    ])
    try writer.close()
    // Bytes, because Swift's strings treat a quote and its accent as one Character.
    let csv = try Array(text(imported.path, .events, .csv).utf8)
    let expected =
      "ordinal,timeNanoseconds,track,source,kind,json\r\n"
      + "0,5,,app,\"a,\u{301}b\",{}\r\n1,6,,app,\"c\"\"\u{301}d\",{}\r\n"
    #expect(csv == Array(expected.utf8))
  }

  @Test func `a table that cannot be written leaves nothing`() throws {
    let imported = try ImportedClip(.lateStart)
    let out = imported.folder.file("events.csv").path
    let export = SessionExport(of: imported.path)
    #expect(code { try export.table(.events, as: .csv, toFile: out) } == "session.export.nothing")
    #expect(
      code { try export.table(.frames, as: .csv, toFile: imported.folder.file("no/x").path) }
        == "session.write")
    let left = try FileManager.default.contentsOfDirectory(atPath: imported.folder.url.path)
    #expect(left.sorted() == ["Recordings", "late.mkv"])
  }
}

extension FileHandle {
  fileprivate static func new(_ path: String) -> FileHandle? {
    FileManager.default.createFile(atPath: path, contents: nil)
      ? FileHandle(forWritingAtPath: path) : nil
  }
}
