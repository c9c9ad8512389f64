import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// One recording that several files hold: `SessionImporter` with `appending`.
@Suite struct ChapterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let frames = 25
  private static let rate = "30000/1001"

  /// Frames of a drawn scene without loss, with B frames and sound, from `from` on.
  private func clip(
    _ name: String, from: Int, count: Int = frames, _ options: [String] = [],
    size: String = "96x64"
  ) throws -> String {
    let path = folder.file(name).path
    let seconds = { (frames: Int) in "\(Double(frames) * 1001 / 30000)" }
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
        "testsrc2=size=\(size):rate=\(Self.rate):duration=\(seconds(100))", "-f", "lavfi", "-i",
        "sine=440:sample_rate=48000:duration=\(seconds(100))", "-ss", seconds(from), "-t",
        seconds(count), "-pix_fmt", "yuv420p", "-threads", "1", "-c:v", "libx264", "-qp", "0",
        "-g", "15", "-bf", "2", "-c:a", "aac",
      ] + options + [path])
    try #require(made.status == 0, "\(made.stderr)")
    return path
  }

  private func chapters(_ options: [String] = []) throws -> [String] {
    try (0..<3).map { try clip("GX0\($0 + 1)0042.MP4", from: $0 * Self.frames, options) }
  }

  private func importing(
    _ files: [String], overlap: ImportOptions.Overlap = .keep, name: String? = nil,
    sound: Bool = true
  ) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(
        file: files[0], appending: Array(files.dropFirst()), overlap: overlap, name: name,
        into: folder.file("R").path, hasSound: sound)
    ).run()
  }

  private func rows(_ result: ImportResult, track: Int = 0) throws -> [FrameRecord] {
    try SessionReader(opening: result.folder.path).index.store
      .frames(track: track, from: 0, count: 1_000)
  }

  private func samples(_ result: ImportResult, _ name: String) throws -> [SampleRecord] {
    let reader = try SessionReader(opening: result.folder.path)
    let sensor = try #require(reader.sensors.first { $0.name == name })
    return try reader.index.store.samples(sensor: sensor.number, from: 0, count: 100_000)
  }

  private func error(_ body: () throws -> Void) -> ErrorFacts? {
    do {
      try body()
      return nil
    } catch {
      return error.facts
    }
  }

  // MARK: One recording

  @Test func `frames, times and sound of three files are those of the whole recording`() throws {
    let files = try chapters()
    let whole = try importing([try clip("whole.mp4", from: 0, count: 75)])
    let result = try importing(files)
    #expect(result.folder.name == "GX010042" && result.status == .clean)
    #expect(result.tracks.count == 1 && result.times.isEmpty)
    let (expected, found) = (try rows(whole), try rows(result))
    #expect(found.map(\.pixelHash) == expected.map(\.pixelHash) && found.count == 75)
    #expect(found.map(\.ptsNanoseconds) == expected.map(\.ptsNanoseconds))
    #expect(
      result.notes.filter { $0.contains("begins at frame") } == [
        "GX020042.MP4 begins at frame 0:25 (0.834 s), one frame after the end of GX010042.MP4: "
          + "assumed, because the files do not say when they begin",
        "GX030042.MP4 begins at frame 0:50 (1.668 s), one frame after the end of GX020042.MP4: "
          + "assumed, because the files do not say when they begin",
      ])
    // A step of sound has 10 ms; each file's own last step may be shorter.
    let (sound, all) = (try samples(result, "sound"), try samples(whole, "sound"))
    #expect(abs(sound.count - all.count) <= 4)
    #expect(abs((sound.last?.timeNanoseconds ?? 0) - (all.last?.timeNanoseconds ?? 0)) < 30_000_000)
    #expect(
      zip(sound, sound.dropFirst()).allSatisfy {
        $1.timeNanoseconds - $0.timeNanoseconds <= 20_000_000
      })
    let check = try SessionCheck(path: result.folder.path, decodes: true).run()
    #expect(check.isHealthy, "\(check.findings)")
    let media = try SessionReader(opening: result.folder.path).mediaFiles()
    #expect(media == (0..<3).map { "media/original-0000\($0).MP4" })
    for (copy, file) in zip(media, files) {
      #expect(
        try Data(contentsOf: URL(filePath: result.folder.path + "/" + copy))
          == Data(contentsOf: URL(filePath: file)))
    }
  }

  @Test func `units of time that differ become one, and each frame keeps its time`() throws {
    let files = [
      try clip("a.mp4", from: 0), try clip("b.mkv", from: 25),
      try clip("c.mp4", from: 50, ["-video_track_timescale", "90000"]),
    ]
    let found = try rows(try importing(files))
    #expect(found.count == 75)
    for row in found {
      let time = divideToNearest(Int128(row.sequence) * 1_001_000_000_000, by: 30_000)
      // Matroska rounds to milliseconds.
      #expect(abs(row.ptsNanoseconds - Int64(time)) <= 1_000_000, "\(row.sequence)")
    }
  }

  @Test func `a file of another size or codec is a segment of its own`() throws {
    let files = [
      try clip("a.mp4", from: 0), try clip("b.mp4", from: 25, size: "128x96"),
      try clip("c.mp4", from: 50, ["-c:v", "mpeg4", "-qp", "3"]),
    ]
    let result = try importing(files)
    let reader = try SessionReader(opening: result.folder.path)
    let parts = try reader.index.store.segmentTracks()
    #expect(parts.map(\.codec.first) == ["h", "h", "m"])
    #expect(parts.map(\.width) == [96, 128, 96] && parts.map(\.segment) == [0, 1, 2])
    #expect(try reader.frame(FrameID(track: 0, sequence: 30)).width == 128)
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  @Test(arguments: ImportOptions.Overlap.allCases)
  func `an index that is gone is made again from all files`(overlap: ImportOptions.Overlap) throws {
    let files = [
      try clip("GX010042.MP4", from: 0, count: 40), try clip("GX020042.MP4", from: 25, count: 50),
    ]
    let result = try importing(files, overlap: overlap)
    let (path, before) = (result.folder.path, try rows(result))
    let digest = try SessionReader(opening: path).sessionDigest()
    #expect(before.count == (overlap == .once ? 75 : 90))
    // Damaged for `once`: only the index knows that choice.
    if overlap == .once {
      _ = try runSQLite(
        arguments: [path + "/session.sqlite", "DELETE FROM packet WHERE \"index\" > 5"])
    } else {
      try FileManager.default.removeItem(atPath: path + "/session.sqlite")
    }
    let recovered = try SessionRecovery(path, fromMedia: true).run()
    #expect(recovered.sessionDigest == digest && recovered.status == .clean)
    #expect(try rows(result) == before)
  }

  @Test func `a choice that only the index knew is a note of the recovery`() throws {
    let files = [
      try clip("GX010042.MP4", from: 0, count: 40), try clip("GX020042.MP4", from: 25, count: 50),
    ]
    let path = try importing(files, overlap: .once).folder.path
    try FileManager.default.removeItem(atPath: path + "/session.sqlite")
    let recovered = try SessionRecovery(path, fromMedia: true).run()
    #expect(recovered.frames == 90)
    #expect(recovered.notes.contains { $0.contains("--overlap once") }, "\(recovered.notes)")
  }

  @Test(arguments: [0, 1])
  func `a chapter that is gone with the index is a loss`(gone: Int) throws {
    let result = try importing(try chapters())
    let path = result.folder.path
    for file in ["/session.sqlite", "/media/original-0000\(gone).MP4"] {
      try FileManager.default.removeItem(atPath: path + file)
    }
    let recovered = try SessionRecovery(path, fromMedia: true).run()
    #expect(recovered.status == .lossy)
    #expect(
      recovered.losses?.contains(
        "the file \(gone + 1) of the recording (original-0000\(gone)) is missing") == true,
      "\(recovered.losses ?? "")")
  }

  // MARK: What the files show

  @Test func `time codes prove that nothing is missing, or name the gap`() throws {
    let code = { (text: String) in ["-timecode", text] }
    let near = try importing(
      [
        try clip("a.mp4", from: 0, code("10:00:00:00")),
        try clip("b.mp4", from: 25, code("10:00:00:25")),
      ], name: "near")
    #expect(
      near.notes.contains {
        $0.hasSuffix("one frame after the end of a.mp4, as the time codes show")
      })
    let far = try importing(
      [
        try clip("a.mp4", from: 0, code("10:00:00:00")),
        try clip("b.mp4", from: 50, code("10:00:01:20")),
      ], name: "far")
    #expect(
      far.notes.contains {
        $0.contains("after a gap of 0.834 s behind a.mp4, as the time codes show")
      })
    #expect(try rows(far)[25].ptsNanoseconds == 1_668_333_333)
    // A day of drop frame time code is 2,592 frames shorter.
    let night = try importing(
      [
        try clip("a.mp4", from: 0, code("23:59:59;05")),
        try clip("b.mp4", from: 25, code("00:00:00;00")),
      ], name: "night")
    #expect(
      night.notes.contains {
        $0.hasSuffix("one frame after the end of a.mp4, as the time codes show")
      }, "\(night.notes)")
    let back = try importing(
      [
        try clip("a.mp4", from: 0, code("10:00:10:00")),
        try clip("b.mp4", from: 25, code("10:00:00:25")),
      ], name: "back")
    #expect(
      back.notes.contains(
        "a.mp4 and b.mp4: their time codes do not fit: 10:00:10:00, then 10:00:00:25"))
  }

  @Test func `creation times that are further apart than a file is long show a gap`() throws {
    let date = { (second: String) in ["-metadata", "creation_time=2026-05-17T10:20:\(second)Z"] }
    let result = try importing([
      try clip("a.mp4", from: 0, date("30")), try clip("b.mp4", from: 25, date("40")),
      try clip("c.mp4", from: 50, date("41")),
    ])
    let notes = result.notes.filter { $0.contains("begins at") }
    #expect(notes.count == 2)
    #expect(notes[0].contains("after a gap of 9.166 s behind a.mp4, as the creation times"))
    #expect(notes[1].contains("one frame after the end of b.mp4, as the creation times"))
    #expect(try rows(result)[25].ptsNanoseconds == 10_000_000_000)
  }

  @Test func `files whose own times continue are placed by them`() throws {
    let whole = try clip("whole.mp4", from: 0, count: 75)
    let cut = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-i", whole, "-map", "0:v", "-c", "copy", "-f", "segment",
        "-segment_times", "0.5005,1.5015", "-segment_format", "mpegts", folder.file("p%d.ts").path,
      ])
    try #require(cut.status == 0, "\(cut.stderr)")
    let parts = (0..<3).map { folder.file("p\($0).ts").path }
    let expected = try rows(try importing([whole]))
    let result = try importing(parts, name: "all")
    #expect(try rows(result).map(\.pixelHash) == expected.map(\.pixelHash))
    #expect(result.notes.filter { $0.contains("as the times in the files show") }.count == 2)
    // The middle is missing, and so is its time.
    let ends = try importing([parts[0], parts[2]], name: "ends")
    #expect(ends.notes.contains { $0.contains("after a gap of 1.001 s behind p0.ts") })
    #expect(ends.notes.contains("the chapter p1.ts is missing between p0.ts and p2.ts"))
    #expect(try rows(ends).count == 45)
  }

  @Test(arguments: ["libx264", "mpeg2video"], [22_222, 50_000, 60_111, 70_001])
  func `a transport stream that was cut at any byte keeps its times`(codec: String, cut: Int) throws
  {
    let whole = try clip(
      "whole.ts", from: 0, count: 75, ["-c:v", codec, "-qp", "8", "-b_strategy", "0"],
      size: "160x120")
    let bytes = try Data(contentsOf: URL(filePath: whole))
    let parts = [bytes[..<cut], bytes[cut...]]
    let files = (0..<2).map { folder.file("cut_\($0 + 1).ts") }
    for (part, file) in zip(parts, files) { try part.write(to: file) }
    let (expected, found) = (
      try rows(try importing([whole])), try rows(try importing(files.map(\.path), name: "cut"))
    )
    let times = Dictionary(expected.map { ($0.pixelHash, $0.ptsNanoseconds) }) { $1 }
    try #require(times.count == 75)
    // The pictures that depend on others in the other file are not decoded, or not certain.
    let known = found.filter { times[$0.pixelHash] != nil }
    #expect(known.count > 75 - 18 && known.last?.pixelHash == expected.last?.pixelHash)
    for row in known { #expect(row.ptsNanoseconds == times[row.pixelHash], "\(row.sequence)") }
  }

  @Test func `packets that only a demuxer finds have the times of the recording`() throws {
    // The times of a transport stream begin again in each of these files.
    let files = try (0..<3).map { try clip("cut_\($0).ts", from: $0 * Self.frames) }
    let result = try importing(files)
    let reader = try SessionReader(opening: result.folder.path)
    let table = IndexedTrack(index: reader.index, track: 0)
    let fetcher = PacketFetcher(table: table)
    var seen: Set<Int> = []
    while let (packet, _) = try fetcher.packet(seen.count) {
      let row = try #require(try table.packet(packet.index))
      try #require(row.offset == nil, "the test needs packets that lie in pieces")
      #expect(packet.pts == row.pts && packet.dts == row.dts && packet.duration == row.duration)
      seen.insert(packet.index)
    }
    #expect(seen.count == 75)
    let times = try rows(result).map(\.ptsNanoseconds)
    #expect(zip(times, times.dropFirst()).allSatisfy { (33_366_666...33_366_667) ~= $1 - $0 })
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  @Test(arguments: [
    ("00:00:00:00", 0), ("00:01:00;02", 1_800), ("00:10:00;00", 17_982), ("19:26:48:04", 2_100_244),
    ("24:00:00:00", nil), ("1:2:3:4", nil),
  ])
  func `a time code is a number of frames`(code: String, frames: Int64?) {
    #expect(ChapterLink.frames(code, FrameRate(30_000, 1_001)) == frames)
  }

  // MARK: Names

  @Test func `names of a camera in another order are refused, and other names are a note`() throws {
    let files = try chapters()
    let refused = error { _ = try importing([files[1], files[0], files[2]]) }
    #expect(refused?.code == "session.append.order" && refused?.kind == .usage)
    #expect(refused?.advice?.hasSuffix("GX030042.MP4 --append") == true)
    #expect(refused?.cause?.hasSuffix("GX010042.MP4, GX020042.MP4, GX030042.MP4") == true)
    let (one, ten) = (try clip("cut_1.mp4", from: 0), try clip("cut_10.mp4", from: 25))
    let result = try importing([ten, one])
    #expect(
      result.notes.contains {
        $0.hasSuffix("the numbers in their names have the order cut_1.mp4, cut_10.mp4")
      })
  }

  @Test func `a chapter that the names show to be missing is named`() throws {
    let files = try chapters()
    let result = try importing([files[0], files[2]])
    #expect(
      result.notes.contains(
        "the chapter GX020042.MP4 is missing between GX010042.MP4 and GX030042.MP4"))
    let late = try importing([files[1], files[2]])
    #expect(late.notes.contains("the chapter GX010042.MP4 is missing before GX020042.MP4"))
    // The session keeps the note.
    let notes = try SessionReader(opening: late.folder.path).footageNotes()
    #expect(notes.contains("the chapter GX010042.MP4 is missing before GX020042.MP4"))
  }

  @Test(arguments: [
    ("GX020042.MP4", "GX*0042.MP4", 2, true), ("GOPR0042.MP4", "GP*0042.MP4", 0, true),
    ("GP010042.MP4", "GP*0042.MP4", 1, true), ("a/cam_0003.mp4", "cam_*.mp4", 3, false),
  ])
  func `a name shows a chapter`(path: String, recording: String, number: Int, isCamera: Bool) throws
  {
    let name = try #require(ChapterName(path))
    #expect(name.recording == recording && name.number == number && name.isCamera == isCamera)
    #expect(path.hasSuffix(name.name(of: number)))
  }

  @Test func `chapters are found among other names`() {
    #expect(ChapterName("clip.mp4") == nil && ChapterName("20260517_102030.mp4") == nil)
    let paths = ["GX020042.MP4", "x.mp4", "GX010042.MP4", "GX010043.MP4", "cam_1.mp4", "cam_2.mp4"]
    #expect(ChapterName.groups(of: paths) == [["GX010042.MP4", "GX020042.MP4"]])
    #expect(ChapterName.groups(of: ["d_001.ts", "d_002.ts"]).count == 1)
    #expect(ChapterName.groups(of: ["d_001.ts", "d_003.ts"]).isEmpty)
    #expect(ChapterName.groups(of: ["a/d_001.ts", "b/d_002.ts"]).isEmpty)
  }

  // MARK: Refused

  @Test func `the same video twice is refused, whatever its name and container are`() throws {
    let file = try clip("a.mp4", from: 0)
    #expect(error { _ = try importing([file, file]) }?.code == "session.append.twice")
    let (copy, remuxed) = (folder.file("b.mp4"), folder.file("c.mov").path)
    try FileManager.default.copyItem(atPath: file, toPath: copy.path)
    let refused = error { _ = try importing([file, copy.path]) }
    #expect(refused?.code == "session.append.twice" && refused?.place?.file == copy.path)
    let made = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-y", "-i", file, "-c", "copy", remuxed])
    try #require(made.status == 0)
    #expect(error { _ = try importing([file, remuxed]) }?.code == "session.append.twice")
    #expect(!FileManager.default.fileExists(atPath: folder.file("R").path))
  }

  @Test func `a file that is no chapter is refused, and named`() throws {
    let file = try clip("a.mp4", from: 0)
    let two = try clip("b.mp4", from: 25, ["-map", "0:v", "-map", "0:v"])
    #expect(error { _ = try importing([file, two]) }?.code == "session.append.tracks")
    let text = folder.file("c.mp4")
    try Data("no video".utf8).write(to: text)
    #expect(error { _ = try importing([file, text.path]) }?.place?.file == text.path)
    #expect(!FileManager.default.fileExists(atPath: folder.file("R").path))
  }

  // MARK: Frames that repeat

  @Test func `frames that repeat are named and kept, or left out`() throws {
    let files = [try clip("a.mp4", from: 0, count: 50), try clip("b.mp4", from: 20, count: 55)]
    let expected = try importing([try clip("whole.mp4", from: 0, count: 75)])
    let kept = try importing(files, name: "kept")
    #expect(try rows(kept).count == 105)
    #expect(
      kept.notes.contains {
        $0.hasSuffix(
          "its first 30 frames, to 0:79, are the last of a.mp4 again, and are kept; --overlap once "
            + "leaves them out")
      })
    let once = try importing(files, overlap: .once, name: "once")
    #expect(try rows(once).map(\.pixelHash) == rows(expected).map(\.pixelHash))
    #expect(try rows(once).map(\.ptsNanoseconds) == rows(expected).map(\.ptsNanoseconds))
    #expect(
      once.notes.contains(
        "b.mp4 begins at frame 0:50 (1.668 s): its first 30 frames were the last of a.mp4 again, "
          + "and were left out (--overlap once)"))
    let (sound, all) = (try samples(once, "sound"), try samples(expected, "sound"))
    #expect(abs(sound.count - all.count) <= 3, "\(sound.count) \(all.count)")
    let check = try SessionCheck(path: once.folder.path, decodes: true).run()
    #expect(check.isHealthy, "\(check.findings)")
    let none = try importing(
      [files[0], try clip("c.mp4", from: 50)], overlap: .once, name: "none")
    #expect(none.notes.contains { $0.hasSuffix("--overlap once left out none") })
  }

  @Test(arguments: [
    ("abcdef", "defgh", 3), ("abc", "def", 0), ("aaaa", "aaab", 0), ("abab", "abab", 4),
    ("xaab", "aabaab", 3), ("ab?", "?b", 0), ("", "ab", 0), ("zab", "abz", 2),
  ])
  func `an overlap is the longest end that is a beginning`(
    before: String, after: String, count: Int
  ) {
    func digests(_ text: String) -> [Digest128?] {
      text.utf8.map { $0 == UInt8(ascii: "?") ? nil : Digest128(of: [$0]) }
    }
    #expect(ChapterOverlap.frames(digests(before), digests(after)) == count)
  }

  // MARK: Telemetry

  /// Cuts frames and telemetry into K000.MP4, K001.MP4 and K002.MP4.
  private func cutTelemetry(_ source: String) throws {
    let cut = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-i", source, "-map", "0:v:0", "-map", "0:3", "-c", "copy",
        "-f", "segment", "-segment_time", "6", "-reset_timestamps", "1", "-segment_format", "mp4",
        folder.file("K%03d.MP4").path,
      ])
    try #require(cut.status == 0, "\(cut.stderr)")
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `telemetry of chapters has the samples and the times of the whole`() throws {
    let source = try #require(sharedMedia("karma.mp4")).path
    try cutTelemetry(source)
    let whole = try importing([source], sound: false)
    let result = try importing((0..<3).map { folder.file("K00\($0).MP4").path }, sound: false)
    let (expected, found) = (try rows(whole), try rows(result))
    #expect(found.map(\.pixelHash) == expected.map(\.pixelHash) && found.count == 362)
    #expect(
      zip(found, expected).allSatisfy { abs($0.ptsNanoseconds - $1.ptsNanoseconds) <= 1 })
    #expect(
      result.notes.filter { $0.hasSuffix("as the counts of the telemetry's samples show") }.count
        == 2)
    #expect(whole.sensors.count > 5)
    #expect(result.sensors.map(\.name) == whole.sensors.map(\.name))
    for sensor in whole.sensors {
      let (one, other) = (try samples(whole, sensor.name), try samples(result, sensor.name))
      #expect(one.map(\.numbers) == other.map(\.numbers), "\(sensor.name)")
      // The stream's unit is a millisecond, and FFmpeg rounds the beginning of each file to it.
      #expect(
        zip(one, other).allSatisfy { abs($0.timeNanoseconds - $1.timeNanoseconds) <= 2_000_000 },
        "\(sensor.name)")
    }
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `a missing chapter leaves a gap that the counts of the telemetry show`() throws {
    let source = try #require(sharedMedia("karma.mp4")).path
    try cutTelemetry(source)
    let whole = try rows(try importing([source], sound: false))
    let result = try importing(
      [folder.file("K000.MP4").path, folder.file("K002.MP4").path], sound: false)
    let note = try #require(result.notes.first { $0.contains("after a gap of 5.8") })
    #expect(note.hasSuffix("behind K000.MP4, as the counts of the telemetry's samples show"))
    #expect(result.notes.contains("the chapter K001.MP4 is missing between K000.MP4 and K002.MP4"))
    let last = try #require(try rows(result).last)
    #expect(last.pixelHash == whole.last?.pixelHash)
    #expect(abs(last.ptsNanoseconds - whole[361].ptsNanoseconds) < 100_000_000)
  }

  @Test(arguments: ["libx264", "mpeg4"])
  func `a piece without a key frame is refused with the command that joins the files`(
    codec: String
  ) throws {
    let whole = try Data(
      contentsOf: URL(
        fileURLWithPath: clip(
          "whole.ts", from: 0, ["-c:v", codec, "-g", "100", "-bf", "0", "-f", "mpegts"])))
    let middle = whole.count / 188 / 2 * 188
    let pieces = try [whole.prefix(middle), whole.dropFirst(middle)].enumerated().map {
      let path = folder.file("piece\($0.offset).ts").path
      try $0.element.write(to: URL(fileURLWithPath: path))
      return path
    }
    let error = #expect(throws: (any Error).self) { try importing(pieces, sound: false) }
    let facts = try #require((error as? any RetakeError)?.facts)
    #expect(facts.code == "session.append.noKeyFrame" && facts.place?.file == pieces[1])
    #expect(
      facts.advice == "Join the files into one, and import it: cat \(pieces[0]) \(pieces[1]) "
        + "> OUT.ts && retake import OUT.ts")
  }

  @Test(arguments: ["libx264", "mpeg4"])
  func `a piece that was cut between key frames names the command that keeps its frames`(
    codec: String
  ) throws {
    let whole = try Data(
      contentsOf: URL(
        fileURLWithPath: clip(
          "whole.ts", from: 0, count: 50,
          ["-c:v", codec, "-g", "20", "-bf", "0", "-f", "mpegts"])))
    let middle = whole.count / 188 / 2 * 188
    let pieces = try [whole.prefix(middle), whole.dropFirst(middle)].enumerated().map {
      let path = folder.file("piece\($0.offset).ts").path
      try $0.element.write(to: URL(fileURLWithPath: path))
      return path
    }
    let result = try importing(pieces, sound: false)
    let found = try rows(result)
    let good = found.filter { $0.cause == nil }
    try #require(!good.isEmpty && good.count < 50)
    // The decoder of MPEG-4 returns images of pictures that it cannot decode.
    let isShown = codec == "mpeg4"
    #expect(found.contains { $0.cause == "media.reference.missing" } == isShown)
    let note = try #require(result.notes.first { $0.hasPrefix("piece1.ts: its first ") })
    #expect(
      note.hasSuffix(
        "packets decode to no \(isShown ? "good image" : "image"), because each file is decoded "
          + "alone; to have all frames: cat \(pieces[0]) \(pieces[1]) > OUT.ts && "
          + "retake import OUT.ts"))
  }

  // MARK: Subtitles

  @Test func `a file of subtitles for each chapter is one sensor`() throws {
    let videos = try (0..<3).map { try clip("DJI_000\($0).MP4", from: $0 * Self.frames) }
    let logs = try (0..<3).map { chapter in
      let entries = (0..<8).map { number in
        "\(number + 1)\n00:00:00,\(number)00 --> 00:00:00,\(number)50\n"
          + "[iso: \(chapter * 8 + number)] [ev: 0]\n\n"
      }
      return try folder.write(entries.joined(), to: "DJI_000\(chapter).SRT").path
    }
    func sensors(_ name: String, _ logs: [String]) throws -> (ImportResult, [SampleRecord]) {
      let result = try SessionImporter(
        ImportOptions(
          file: videos[0], appending: Array(videos.dropFirst()), name: name,
          into: folder.file("R").path, sensors: logs, hasSound: false)
      ).run()
      return (result, try samples(result, "telemetry"))
    }
    // By their names, in any order; by their order, if the names do not match.
    let others = try logs.map { log in
      let copy = folder.file("log-" + URL(filePath: log).lastPathComponent)
      try FileManager.default.copyItem(atPath: log, toPath: copy.path)
      return copy.path
    }
    for (name, given) in [("a", logs), ("b", [logs[2], logs[0], logs[1]]), ("c", others)] {
      let (result, found) = try sensors(name, given)
      #expect(result.sensors.map(\.name) == ["telemetry"], "\(name)")
      #expect(found.map { $0.numbers[0] } == (0..<24).map { Double($0) }, "\(name)")
      let starts = try [0, 25, 50].map { try rows(result)[$0].ptsNanoseconds }
      #expect([0, 8, 16].map { found[$0].timeNanoseconds } == starts, "\(name)")
    }
    let (some, _) = try sensors("some", [logs[1]])
    let words = videos.map(\.shellWord).joined(separator: " ")
    #expect(
      some.notes.contains(
        "\(logs[0]), \(logs[2]) have telemetry of these videos, which was not imported: retake "
          + "import \(words) --append" + logs.map { " --sensor \($0.shellWord)" }.joined()
          + " --name DJI_0000-telemetry"), "\(some.notes)")
    // An option of its own makes it a sensor of its own.
    let (own, _) = try sensors("d", [logs[0], logs[1] + ":offset=1s", logs[2]])
    #expect(own.sensors.count == 2)
  }

  // MARK: Display

  @Test func `chapters that players turn differently are noted`() throws {
    let file = try clip("a.mp4", from: 0)
    let plain = try clip("b.mp4", from: 25)
    let turned = folder.file("c.mp4").path
    // FFmpeg before 6.0 has no option for it, and later ones ignore the metadata.
    let ways = [
      ["-display_rotation", "90", "-i", plain, "-c", "copy", turned],
      ["-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned],
    ]
    let made = try ways.contains {
      try runFFmpeg(arguments: ["-v", "error", "-nostdin", "-y"] + $0).status == 0
    }
    try #require(made)
    let result = try importing([file, turned])
    #expect(
      result.notes.contains {
        $0.hasPrefix("track 0: players do not turn it in a.mp4, and turn it ")
          && $0.hasSuffix("in c.mp4; the node upright turns each frame as its file says")
      }, "\(result.notes)")
    let reader = try SessionReader(opening: result.folder.path)
    let turns = try [24, 25].map {
      try reader.frame(FrameID(track: 0, sequence: $0)).rotationDegrees
    }
    #expect(turns[0] == 0 && turns[1] % 180 == 90, "\(turns)")
    let described = try [24, 25].map {
      try reader.description(of: FrameID(track: 0, sequence: $0)).rotationDegrees
    }
    #expect(described == turns && reader.imagesVary(in: 0))
    #expect(
      try importing([file, plain], name: "same").notes.allSatisfy { !$0.contains("players") })
  }

  @Test func `NOTES.md keeps the name of a file with which a note begins`() throws {
    let result = try importing([try clip("nt1.mp4", from: 0), try clip("nt2.mp4", from: 25)])
    let notes = try String(contentsOfFile: result.folder.path + "/NOTES.md", encoding: .utf8)
    #expect(notes.contains("- nt2.mp4 begins at frame"), "\(notes)")
  }
}
