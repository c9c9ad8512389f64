import Foundation
import RetakeCore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite
@testable import RetakeSession

/// Footage whose time stamps restart, jump or wrap.
@Suite struct TimePlaceTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    guard result.status == 0 else { throw ClipFailed(message: result.stderr) }
  }

  /// Pieces of MPEG-TS with 20 frames each, which begin at these seconds, concatenated.
  private func joined(_ starts: [Int], name: String) throws -> URL {
    var bytes = Data()
    for (number, start) in starts.enumerated() {
      let piece = folder.file("\(name)-\(number).ts")
      try ffmpeg(
        [
          "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-vf",
          "hue=h=\(number * 90)", "-frames:v", "20", "-threads", "1", "-c:v", "libx264", "-g", "10",
          "-bf", "2", "-pix_fmt", "yuv420p", "-output_ts_offset", "\(start)", piece.path,
        ])
      bytes += try Data(contentsOf: piece)
    }
    let url = folder.file("\(name).ts")
    try bytes.write(to: url)
    return url
  }

  /// The frames decoded by FFmpeg's own command, in its order.
  private func framehash(_ file: URL) throws -> [String] {
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-i", file.path, "-vf", "setpts=N", "-fps_mode", "passthrough",
        "-f", "framehash", "-",
      ])
    return result.stdout.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
  }

  private func imported(_ file: URL) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(file: file.path, into: folder.file("Recordings").path)
    ).run()
  }

  /// Every frame that the container does not mark as incomplete is FFmpeg's; time increases by one
  /// frame.
  private func check(_ result: ImportResult, _ file: URL) throws -> [Int64] {
    let reader = try SessionReader(opening: result.folder.path)
    let entries = try reader.entries(of: 0, sequences: 0..<999)
    let expected = try framehash(file)
    #expect(entries.count == expected.count)
    var whole = 0
    for entry in entries where entry.damage == nil {
      #expect(try reader.frame(entry.id).frameHash == expected[entry.id.sequence], "\(entry.id)")
      whole += 1
    }
    // At a seam the container's counter jumps, and the packet there counts as incomplete.
    #expect(whole >= expected.count - 3 * (entries.count / 20 - 1))
    return zip(entries, entries.dropFirst()).map {
      ($1.timestamp.nanoseconds - $0.timestamp.nanoseconds) / 1_000_000
    }
  }

  @Test func `pieces that each begin at zero follow one another`() throws {
    let file = try joined([0, 0, 0], name: "joined")
    let result = try imported(file)

    let steps = try check(result, file)

    #expect(steps == Array(repeating: 40, count: 59))
    #expect(result.times.map(\.kind) == [.back, .back])
    #expect(result.times.map(\.frame) == [20, 40] && result.timeCount == 2)
    #expect(result.times[0].text.hasPrefix("track 0: time goes back by 760 ms at frame 20"))
    let info = try SessionReader(opening: result.folder.path).info()
    #expect(info.times == result.times && info.timeCount == 2)
    let notes = try String(contentsOfFile: result.folder.notes, encoding: .utf8)
    #expect(notes.contains("time goes back by 760 ms at frame 40"))
  }

  @Test func `a clock that was put back is not taken for a day`() throws {
    let file = try joined([100, 0], name: "back")
    let result = try imported(file)

    let steps = try check(result, file)

    #expect(steps == Array(repeating: 40, count: 39))
    #expect(result.times.map(\.kind) == [.wrap] && result.times[0].frame == 20)
  }

  @Test func `a gap of a minute is kept and told`() throws {
    let file = try joined([0, 60], name: "gap")
    let result = try imported(file)

    let steps = try check(result, file)

    #expect(steps.count { $0 == 40 } == 38 && (59_000..<59_400).contains(steps[19]))
    #expect(result.times.map(\.kind) == [.gap])
    #expect(result.times[0].nanoseconds == steps[19] * 1_000_000)
  }

  @Test func `a 33-bit clock that wraps goes on`() throws {
    // 2^33 ticks of 90 kHz are 95,443.7 s.
    let file = try joined([95_443], name: "wrap")
    let result = try imported(file)

    #expect(try check(result, file) == Array(repeating: 40, count: 19))
    #expect(result.times.isEmpty && result.status == .clean)
  }

  @Test func `what was joined is trimmed, copied, rebuilt and exported alike`() throws {
    let file = try joined([0, 0], name: "made")
    let result = try imported(file)
    let reader = try SessionReader(opening: result.folder.path)
    let rows = try reader.index.store.frames(track: 0, sequences: 0..<99)

    let trimmed = try SessionTrim(
      of: result.folder.path,
      .init(
        from: .milliseconds(400), to: .milliseconds(1_200),
        target: SessionTarget(into: folder.file("Made").path, name: "trimmed"))
    ).run()
    let span = try SessionReader(opening: trimmed.path)
    #expect(trimmed.frames == 20)
    #expect(
      try span.index.store.frames(track: 0, sequences: 0..<99).map(\.pixelHash)
        == rows[10..<30].map(\.pixelHash))
    #expect(try span.info().times?.map(\.frame) == [10])

    let optimized = try SessionTranscode(
      of: result.folder.path,
      .init(target: SessionTarget(into: folder.file("Made").path, name: "fast"))
    ).run()
    #expect(optimized.exact && optimized.frames == 40)
    #expect(try SessionReader(opening: optimized.path).info().times == result.times)

    let digest = try reader.sessionDigest()
    try FileManager.default.removeItem(atPath: result.folder.database)
    let rebuilt = try SessionRecovery(result.folder.path, fromMedia: true).run()
    #expect(rebuilt.sessionDigest == digest)
    #expect(try SessionReader(opening: result.folder.path).info().times == result.times)
  }

  @Test func `a broken file's places are counted beyond those that are kept`() throws {
    var places = TimePlaces()
    for frame in 0..<1_000 {
      places.append(TimePlace(kind: .back, track: 0, frame: frame, frames: 1, nanoseconds: 5))
    }
    let text = try #require(places.stored)
    let read = try #require(TimePlaces(stored: text))
    #expect(read == places && read.count == 1_000)
    #expect(read.places.count == TimePlaces.placesMax)
    #expect(TimePlaces().stored == nil && TimePlaces(stored: "{") == nil)
  }

  @Test func `a join keeps the places of both sessions`() throws {
    let sessions = try [[0, 0], [0, 0, 0]].map { starts in
      try imported(try joined(starts, name: "pieces-\(starts.count)")).folder.path
    }
    let both = try SessionJoin(sessions[0], sessions[1], method: .offset(0, driftPPM: 0))
      .run(to: SessionTarget(into: folder.file("Joined").path, name: "both"))
    let times = try SessionReader(opening: try #require(both.path)).info().times
    #expect(times?.map(\.track) == [0, 1, 1] && times?.map(\.frame) == [20, 20, 40])
  }

  @Test func `a trim keeps the notes about fields and chapters of its span`() throws {
    let files = try [0, 2].map { part in
      let file = folder.file("f_\(part).ts").path
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=4", "-vf",
        "tinterlace=interleave_top,setfield=tff", "-ss", "\(part)", "-t", "1", "-c:v",
        "mpeg2video", "-flags", "+ildct+ilme", "-g", "5", "-pix_fmt", "yuv420p", file,
      ])
      return file
    }
    let session = try SessionImporter(
      ImportOptions(file: files[0], appending: [files[1]], into: folder.file("Recordings").path)
    ).run().folder.path
    func notes(_ path: String) throws -> [String] {
      try SessionReader(opening: path).footageNotes()
    }
    // The first frame of a transport stream is not at zero, and `trim` counts from it.
    let boundary = "f_2.ts begins at frame 0:25 (1.000 s), one frame after the end of f_0.ts"
    let whole = try notes(session)
    #expect(whole.contains { $0.hasPrefix(boundary) }, "\(whole)")
    func trimmed(_ from: Int, _ to: Int) throws -> [String] {
      let target = SessionTarget(into: folder.file("Trimmed").path, name: "t\(from)")
      return try notes(
        SessionTrim(
          of: session,
          .init(from: .milliseconds(from), to: .milliseconds(to), target: target)
        ).run().path)
    }
    let fields = "track 0: the frames are interlaced (top field first): add a node deinterlace"
    let both = try trimmed(600, 1_600)
    #expect(both.contains { $0.hasPrefix("f_2.ts begins at frame 0:10 (0.400 s), one") }, "\(both)")
    #expect(both.contains(fields))
    #expect(both.contains("the chapter f_1.ts is missing between f_0.ts and f_2.ts"), "\(both)")
    for (from, to) in [(0, 800), (1_000, 1_800)] {
      #expect(try trimmed(from, to) == [fields], "the chapter begins outside, or with the span")
    }
    // A join counts from its own first frame, and its second session has other tracks.
    let joined = try SessionJoin(
      session, folder.file("Trimmed/t600").path, method: .offset(0, driftPPM: 0)
    ).run(to: SessionTarget(into: folder.file("Joined").path, name: "both"))
    let all = try notes(try #require(joined.path))
    for begun in ["f_2.ts begins at frame 0:25 (1.000 s)", "f_2.ts begins at frame 1:10 (1.000 s)"]
    {
      #expect(all.count { $0.hasPrefix(begun) } == 1, "\(all)")
    }
    #expect(all.count { $0.hasPrefix("the chapter f_1.ts is missing") } == 2)
    #expect(all.contains(fields.replacing("track 0", with: "track 1")))
  }
}
