import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Notes of an import and of `session info` about footage that a user would not expect.
@Suite struct FootageNoteTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-footage") }

  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private func file(_ name: String) -> String { folder.file(name).path }

  /// A clip of FFmpeg's test source, H.264 without loss and without B-frames.
  private func clip(
    _ name: String, _ filter: String = "null", size: String = "96x64", seconds: Double = 2,
    _ options: [String] = []
  ) throws -> String {
    try ffmpeg(
      [
        "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=\(seconds)", "-vf", filter,
        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0", "-bf", "0", "-g", "25",
      ] + options + [file(name)])
    return file(name)
  }

  /// The notes of the import; `session info` has the same notes.
  private func notes(_ path: String) throws -> [String] {
    let result = try SessionImporter(
      ImportOptions(file: path, into: file("Recordings"), hasSound: false)
    ).run()
    #expect(result.status == .clean, "\(result.notes)")
    let info = try SessionReader(opening: result.folder.path).info()
    for note in info.notes ?? [] { #expect(result.notes.contains(note)) }
    return info.notes ?? []
  }

  private func imported(_ path: String) throws -> SessionReader {
    let result = try SessionImporter(ImportOptions(file: path, into: file("Recordings"))).run()
    return try SessionReader(opening: result.folder.path)
  }

  // MARK: Tracks

  /// Two clips as two tracks of one file, the second of them `delay` seconds later.
  private func twoTracks(
    _ name: String, delay: Double, second: [String] = ["-c", "copy"]
  ) throws -> String {
    let (one, other) = (try clip("one.mkv"), try clip("other.mkv", "hflip"))
    try ffmpeg(
      [
        "-i", one, "-itsoffset", "\(delay)", "-i", other, "-map", "0:v", "-map", "1:v", "-c",
        "copy",
      ]
        + second + ["-muxdelay", "0", "-muxpreload", "0", file(name)])
    return file(name)
  }

  @Test(arguments: [
    ("switch.ts", "it is the same video on another PID"),
    ("switch.mp4", "the same video continues in another track"),
    ("switch.mkv", "the same video continues in another track"),
  ])
  func `a track that begins where another one ends is named`(name: String, what: String) throws {
    let notes = try notes(try twoTracks(name, delay: 2))
    #expect(notes.count == 1)
    #expect(
      notes.first?.hasPrefix("track 1 begins where track 0 ends (2.0 s): \(what);") == true,
      "\(notes)")
  }

  @Test func `a track of another codec that follows much later is named`() throws {
    let path = try twoTracks(
      "late.mkv", delay: 5, second: ["-c:v:1", "mpeg4", "-g", "5", "-bf", "0"])
    let notes = try notes(path)
    #expect(
      notes.first?.hasPrefix(
        "track 1 begins 3.0 s after track 0 ends (5.0 s): the recording continues in another "
          + "codec or "
          + "size;") == true, "\(notes)")
  }

  @Test func `another program that begins late is imported, and named`() throws {
    let parts = try [(0, "0x1000", 1), (1, "0x1100", 2)].map { second, table, service in
      let name = "program\(second).ts"
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=2", "-ss", "\(second)", "-t",
        "1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-g", "25", "-output_ts_offset",
        "\(second)", "-muxdelay", "0", "-muxpreload", "0", "-streamid", "0:\(256 + second)",
        "-mpegts_service_id", "\(service)", "-mpegts_pmt_start_pid", table, file(name),
      ])
      return try Data(contentsOf: folder.file(name))
    }
    try parts.reduce(Data(), +).write(to: folder.file("program.ts"))
    let reader = try imported(file("program.ts"))
    #expect(reader.tracks.map(\.frameCount) == [25, 25])
    #expect(
      try reader.footageNotes().first?.hasPrefix(
        "track 1 begins where track 0 ends (1.0 s): it is the same video on another PID") == true)
    #expect(try SessionCheck(path: reader.folder.path, decodes: true).run().isHealthy)
    // One track that was asked for is all that is imported.
    let one = try SessionImporter(
      ImportOptions(file: file("program.ts"), name: "one", into: file("Recordings"), tracks: [0])
    ).run()
    #expect(one.tracks.map(\.frames) == [25])
  }

  @Test func `a track that begins late has the shape of its own pixels`() throws {
    let parts = try [(0, "4:3", "0x1000"), (1, "16:9", "0x1100")].map { second, aspect, table in
      let name = "shape\(second).ts"
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=2", "-ss", "\(second)", "-t",
        "1", "-pix_fmt", "yuv420p", "-c:v", "mpeg2video", "-bf", "0", "-g", "5", "-aspect", aspect,
        "-output_ts_offset", "\(second)", "-muxdelay", "0", "-muxpreload", "0", "-streamid",
        "0:\(256 + second)", "-mpegts_service_id", "\(second + 1)", "-mpegts_pmt_start_pid", table,
        file(name),
      ])
      return try Data(contentsOf: folder.file(name))
    }
    try parts.reduce(Data(), +).write(to: folder.file("shape.ts"))
    let reader = try imported(file("shape.ts"))
    #expect(reader.tracks.map(\.sampleAspect) == [SampleAspect(8, 9), SampleAspect(32, 27)])
    for track in 0...1 {
      let frame = try reader.frame(FrameID(track: track, sequence: 7))
      #expect(frame.sampleAspect == reader.tracks[track].sampleAspect, "track \(track)")
    }
    #expect(
      try reader.footageNotes().first?.hasPrefix("track 1 begins where track 0 ends") == true)
  }

  @Test(arguments: ["angle.ts", "angle.mp4"])
  func `two cameras at the same time are not named`(name: String) throws {
    #expect(try notes(try twoTracks(name, delay: 0.2)) == [])
  }

  @Test func `each of two cameras that go on is named once, with its own first part`() {
    func span(_ track: Int, _ first: Int64, _ width: Int) -> TrackSpan {
      TrackSpan(
        track: track, first: first * 1_000_000_000, last: (first + 2) * 1_000_000_000,
        codec: "h264", width: width, height: 64)
    }
    let spans = [span(0, 0, 96), span(1, 0, 96), span(2, 2, 96), span(3, 2, 96), span(4, 2, 64)]
    let notes = TrackSpan.successions(spans, isTransport: false, advice: "x")
    #expect(
      notes.map { $0.prefix(33) } == [
        "track 2 begins where track 0 ends", "track 3 begins where track 1 ends",
        "track 4 begins where track 0 ends",
      ])
  }

  // MARK: Shapes

  @Test func `sizes that change within a track are all named, each with its first frame`() throws {
    let parts = try [("a", "96x64"), ("b", "128x64"), ("c", "96x64")].map {
      try Data(contentsOf: URL(fileURLWithPath: clip("\($0.0).ts", size: $0.1, seconds: 1)))
    }
    try parts.reduce(Data(), +).write(to: folder.file("sizes.ts"))
    let notes = try notes(file("sizes.ts"))
    #expect(
      notes.contains(
        "track 0: the frames change: 96x64, from frame 25 on 128x64, from frame 50 on 96x64"),
      "\(notes)")
  }

  @Test(arguments: ["libx264", "mpeg4"])
  func `the shape of pixels is that of each part of a track`(codec: String) throws {
    let parts = try [("1/1", 0), ("4/3", 1), ("1/1", 2)].map { aspect, second in
      let name = "aspect\(second).ts"
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=4", "-ss", "\(second)", "-t",
        "1", "-vf", "setsar=\(aspect)", "-pix_fmt", "yuv420p", "-c:v", codec, "-bf", "0", "-g",
        "25", "-output_ts_offset", "\(second)", "-muxdelay", "0", "-muxpreload", "0", file(name),
      ])
      return try Data(contentsOf: folder.file(name))
    }
    try parts.reduce(Data(), +).write(to: folder.file("aspect.ts"))
    let reader = try imported(file("aspect.ts"))
    let notes = try reader.footageNotes()
    #expect(
      notes.contains(
        "track 0: the frames change: pixels 1:1, from frame 25 on pixels 4:3, from frame 50 on "
          + "pixels 1:1"), "\(notes)")
    // Forwards, backwards, and from the middle: the decoder is opened in each of the parts.
    for sequence in [10, 40, 60, 30, 74, 24, 25, 49, 50, 0] {
      let aspect = try reader.frame(FrameID(track: 0, sequence: sequence)).sampleAspect
      let wanted = (25..<50).contains(sequence) ? SampleAspect(4, 3) : .square
      #expect(aspect == wanted, "frame \(sequence)")
    }
    #expect(reader.tracks[0].sampleAspect == .square)
    #expect(try SessionCheck(path: reader.folder.path, decodes: true).run().isHealthy)
  }

  @Test func `the range and the matrix of samples are those of each part of a track`() throws {
    let labels = ["colorprim=bt709:colormatrix=bt709", "fullrange=on:colormatrix=smpte170m"]
    let parts = try labels.enumerated().map { second, label in
      let name = "label\(second).ts"
      _ = try clip(name, seconds: 1, ["-x264-params", label, "-output_ts_offset", "\(second)"])
      return try Data(contentsOf: folder.file(name))
    }
    try parts.reduce(Data(), +).write(to: folder.file("labels.ts"))
    let reader = try imported(file("labels.ts"))
    let notes = try reader.footageNotes()
    #expect(
      notes.contains("track 0: the frames change: limited bt709, from frame 25 on full bt601"),
      "\(notes)")
    let frame = try reader.frame(FrameID(track: 0, sequence: 40))
    #expect((frame.range, frame.matrix) == (.full, .bt601))
  }

  @Test func `the aspect that a container gives is not changed by the pictures`() throws {
    let path = try clip("plain.mkv", "setsar=4/3")
    try ffmpeg(["-i", path, "-c", "copy", "-aspect", "1:1", file("told.mkv")])
    let reader = try imported(file("told.mkv"))
    #expect(reader.tracks[0].sampleAspect == SampleAspect(2, 3))
    #expect(try reader.frame(FrameID(track: 0, sequence: 30)).sampleAspect == SampleAspect(2, 3))
    #expect(try reader.footageNotes() == [])
  }

  // MARK: Opacity

  @Test(arguments: [("vp8", "libvpx"), ("vp9", "libvpx-vp9")])
  func `opacity that is not decoded is named`(codec: String, encoder: String) throws {
    for format in ["yuva420p", "yuv420p"] {
      let path = file("\(codec)-\(format).webm")
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.4", "-vf", "format=\(format)",
        "-c:v", encoder, "-auto-alt-ref", "0", "-deadline", "realtime", "-cpu-used", "8", path,
      ])
      let notes = try notes(path)
      let wanted =
        format == "yuva420p"
        ? ["track 0: the frames have opacity, which is not decoded: stages get them opaque"] : []
      #expect(notes == wanted)
    }
  }

  // MARK: Equal pictures

  @Test func `a camera that hangs is named, with its frames and its time`() throws {
    // 60 copies of a frame, and then the rest of the clip at its usual times.
    let stand = "loop=loop=60:size=1:start=20,trim=end_frame=80,setpts=N/25/TB"
    let path = try clip(
      "stuck.mkv",
      "split[a][b];[a]\(stand)[x];[b]trim=start_frame=80,setpts=N/25/TB[y];[x][y]concat=n=2",
      seconds: 5, ["-fps_mode", "passthrough"])
    let notes = try notes(path)
    #expect(notes.count == 1 && notes[0].hasSuffix("are equal (61 frames, 2.4 s)"), "\(notes)")
    let diagnosis = try SessionCheck(path: file("Recordings/stuck"), decodes: true).run()
    #expect(diagnosis.isHealthy)
    #expect(diagnosis.findings.contains { $0.severity == .note && $0.message == notes[0] })
  }

  @Test func `slides are named by the number of their pictures`() throws {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=2/3:duration=6", "-vf", "fps=25", "-frames:v",
      "150", "-pix_fmt", "yuv420p", "-c:v", "ffv1", file("slides.mkv"),
    ])
    let notes = try notes(file("slides.mkv"))
    #expect(notes.count == 1, "\(notes)")
    #expect(
      notes.first?.contains("4 different images in 150 frames; the longest run") == true,
      "\(notes)")
  }

  @Test func `a fixed camera in an empty room is not named`() throws {
    try ffmpeg([
      "-f", "lavfi", "-i", "color=c=gray:size=96x64:rate=25:duration=3", "-vf",
      "noise=alls=6:allf=t:all_seed=7", "-pix_fmt", "yuv420p", "-c:v", "ffv1", file("static.mkv"),
    ])
    #expect(try notes(file("static.mkv")) == [])
  }

  @Test func `a stretch that comes twice is named with both places`() throws {
    let path = try clip(
      "twice.mkv",
      "split[a][b];[a]trim=end_frame=50,setpts=N/25/TB[x];[b]trim=start_frame=25,setpts=N/25/TB[y];"
        + "[x][y]concat=n=2", seconds: 4, ["-fps_mode", "passthrough"])
    #expect(
      try notes(path) == ["track 0: frames 50 to 74 are frames 25 to 49 again (25 frames)"])
  }

  /// One letter a picture; `-` is a frame without a digest. 25 frames a second.
  private func found(_ timeline: String) -> EqualImages {
    var equal = EqualImages()
    for (place, letter) in timeline.enumerated() {
      let digest = letter == "-" ? nil : Digest128(of: String(letter).utf8)
      equal.add(digest, nanoseconds: Int64(place) * 40_000_000)
    }
    equal.finish()
    return equal
  }

  @Test func `only runs of a second and more are kept, and the longest three of them`() {
    let run = { (letter: String, count: Int) in String(repeating: letter, count: count) }
    #expect(found("ab" + run("c", 25) + "d").stillCount == 0)
    let one = found("ab" + run("c", 26) + "d")
    #expect(one.stills == [.init(first: 2, last: 27, nanoseconds: 1_000_000_000)])
    #expect(found("ab" + run("c", 20) + "-" + run("c", 20)).stillCount == 0)
    let many = found(run("a", 30) + run("b", 28) + run("c", 40) + run("d", 29) + run("e", 28))
    #expect(many.stillCount == 5 && many.pictureCount == 5)
    #expect(many.stills.map(\.count) == [30, 40, 29])
  }

  @Test func `repeats are found where they are, and standing pictures are none`() {
    let (first, second) = ("abcdefghijklmno", "pqrstuvwxyz")
    #expect(
      found(first + second + "bcdefghijk" + "ABC").echoes == [
        .init(first: 26, count: 10, earlier: 1)
      ])
    #expect(found(first + second + "bcdefghij" + "ABC").echoCount == 0)
    #expect(found(first + first + first).echoes == [.init(first: 15, count: 30, earlier: 0)])
    #expect(found(first + String(repeating: "o", count: 40)).echoCount == 0)
    #expect(found(first + "-" + first).echoes == [.init(first: 16, count: 15, earlier: 0)])
  }

  // MARK: Turned and mirrored

  /// The clip with another matrix in its track header.
  private func turned(_ name: String, _ matrix: [Double]) throws -> String {
    try turnMovie(try clip("source.mp4", seconds: 0.2), matrix: matrix, into: file(name))
    return file(name)
  }

  @Test(arguments: [
    ([-1, 0, 0, 1.0], 0, true, "mirror it left to right"),
    ([1, 0, 0, -1.0], 180, true, "mirror it top to bottom"),
    ([0, 1, 1, 0.0], 270, true, "mirror it left to right and turn it 270° clockwise"),
    ([0, -1, -1, 0.0], 90, true, "mirror it left to right and turn it 90° clockwise"),
    ([0, 1, -1, 0.0], 90, false, "turn it 90° clockwise"),
    ([-1, 0, 0, -1.0], 180, false, "turn it 180° clockwise"),
  ])
  func `a mirrored track is imported as mirrored`(
    matrix: [Double], degrees: Int, isMirrored: Bool, text: String
  ) throws {
    let reader = try imported(try turned("m.mp4", matrix))
    let track = try #require(try reader.info().tracks.first)
    #expect(track.rotationDegrees == degrees && (track.mirrored ?? false) == isMirrored)
    #expect(track.displayText == text)
    let frame = try reader.frame(FrameID(track: 0, sequence: 0))
    #expect((frame.rotationDegrees, frame.isMirrored) == (degrees, isMirrored))
    #expect(reader.tracks[0].isMirrored == isMirrored)
  }

  @Test func `an angle that is no quarter turn is said as it is, and is not rounded`() throws {
    let half = 0.5.squareRoot()
    let reader = try imported(try turned("odd.mp4", [half, half, -half, half]))
    #expect(try reader.info().tracks[0].rotationDegrees == 0)
    #expect(
      try reader.footageNotes() == [
        "track 0: the container says that players turn it 45.0° clockwise; it is shown as it is "
          + "stored"
      ])
  }

  @Test func `an index made again has the colors and the turn of the media`() throws {
    try ffmpeg([
      "-i", try turned("m.mp4", [0, 1, 1, 0.0]), "-c", "copy", "-bsf:v",
      "h264_metadata=transfer_characteristics=16:colour_primaries=9", file("colored.mp4"),
    ])
    let reader = try imported(file("colored.mp4"))
    let before = try reader.info()
    #expect(before.tracks[0].transfer == "smpte2084" && before.tracks[0].mirrored == true)
    try FileManager.default.removeItem(atPath: reader.folder.database)
    let result = try SessionRecovery(reader.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: reader.folder.path).info().tracks == before.tracks)
    #expect(result.notes.count == 1 && result.notes[0].hasPrefix("there was no index, so "))
    #expect(result.notes[0].contains("the name of its source"))
  }

  @Test func `an index made again keeps the note about an angle that is no quarter turn`() throws {
    let half = 0.5.squareRoot()
    let reader = try imported(try turned("odd.mp4", [half, half, -half, half]))
    let notes = try reader.footageNotes()
    try FileManager.default.removeItem(atPath: reader.folder.database)
    _ = try SessionRecovery(reader.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: reader.folder.path).footageNotes() == notes)
  }

  @Test func `a display orientation within the pictures is said`() throws {
    let path = try clip("plain.ts")
    try ffmpeg([
      "-i", path, "-c", "copy", "-bsf:v", "h264_metadata=display_orientation=insert:rotate=90",
      file("told.ts"),
    ])
    let notes = try notes(file("told.ts"))
    #expect(
      notes.count == 1 && notes[0].contains("its images say that players turn it "), "\(notes)")
  }

  @Test(arguments: [
    ("top", "libx264", ["-flags", "+ildct+ilme", "-x264-params", "tff=1"]),
    ("bottom", "mpeg2video", ["-flags", "+ildct+ilme", "-top", "0"]),
  ])
  func `interlaced frames are noted with their first field and the node for them`(
    field: String, codec: String, options: [String]
  ) throws {
    for name in ["matroska.mkv", "transport.ts"] {
      try ffmpeg(
        [
          "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=2", "-vf",
          "tinterlace=interleave_\(field),setfield=\(field == "top" ? "tff" : "bff")", "-pix_fmt",
          "yuv420p", "-c:v", codec,
        ] + options + [file(name)])
      let wanted =
        "track 0: the frames are interlaced (\(field) field first): add a node deinterlace"
      let found = try notes(file(name))
      #expect(found.contains(wanted), "\(found)")
    }
    #expect(try notes(clip("plain.mkv")).isEmpty)
  }

  @Test(
    arguments: ["top", "bottom"],
    [
      ("ffv1", "yuv420p", "a.mkv"), ("huffyuv", "yuv422p", "a.mkv"),
      ("rawvideo", "uyvy422", "a.mkv"),
      ("v210", "yuv422p10le", "a.mov"), ("rawvideo", "uyvy422", "b.mov"),
    ])
  func `fields that only the container knows are noted`(
    field: String, clip: (codec: String, format: String, name: String)
  ) throws {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=2", "-vf",
      "tinterlace=interleave_\(field)", "-pix_fmt", clip.format, "-flags", "+ildct", "-c:v",
      clip.codec, file(clip.name),
    ])
    let found = try notes(file(clip.name))
    let wanted =
      "track 0: the frames are interlaced (\(field) field first): add a node deinterlace"
    #expect(found.contains(wanted), "\(found)")
    // The container of a progressive file says nothing.
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=2", "-pix_fmt", clip.format,
      "-c:v", clip.codec, file("plain-" + clip.name),
    ])
    #expect(try notes(file("plain-" + clip.name)).allSatisfy { !$0.contains("interlaced") })
  }

  @Test func `a count of interlaced frames is that of the original in a part of it`() {
    var frames = InterlacedFrames()
    for field in [VideoField.top, nil, .bottom] { frames.add(field) }
    let note = frames.note(track: 1, of: 3)
    #expect(
      note == "track 1: 2 of 3 frames are interlaced (top field first in 1): add a node deinterlace"
    )
    let stored = FootageFact.stored([
      note ?? "", "track 0: gone", "b.mp4 begins at frame 1:2 (0.080 s), one frame after a.mp4",
      "b.mp4 begins at frame 1:9 (0.360 s): its first 3 frames, to 1:11, are the last of a.mp4",
      "the chapter c.mp4 is missing", "the chapter a1.mp4 is missing between a.mp4 and b.mp4",
      "the chapter b1.mp4 is missing between b.mp4 and c.mp4",
      "a.mp4 and b.mp4: their time codes do not fit",
    ])
    let kept = FootageFact.notes(stored: stored, ofPart: [1]) { id in
      id.sequence > 4 ? (id.sequence - 4, Int64(id.sequence - 4) * 40_000_000) : nil
    }
    #expect(
      kept == [
        "track 1: 2 of 3 frames of the original are interlaced (top field first in 1): add a node "
          + "deinterlace",
        "b.mp4 begins at frame 1:5 (0.200 s): its first 3 frames, to 1:7, are the last of a.mp4",
        "the chapter a1.mp4 is missing between a.mp4 and b.mp4",
        "a.mp4 and b.mp4: their time codes do not fit",
      ])
    let before = FootageFact.notes(stored: stored, ofPart: [2]) { _ in nil }
    #expect(before.isEmpty, "no file begins in this part")
  }

  // MARK: Words

  @Test func `times in notes are in the unit that fits, and one packet is one`() {
    let place = TimePlace(kind: .back, track: 0, frame: 3, frames: 1, nanoseconds: 933_333_334)
    #expect(place.text.hasPrefix("track 0: time goes back by 933.333 ms at frame 3"))
    #expect(Duration.nanoseconds(760_000_000).roundedText == "760 ms")
    #expect(Duration.nanoseconds(33_366_667).roundedText == "33.367 ms")
    #expect(Duration.nanoseconds(400_001).roundedText == "0.4 ms")
    #expect(Duration.nanoseconds(61_999_999_999).roundedText == "62 s")
  }

  @Test(arguments: [(1, "1 packet is"), (2, "2 packets are")])
  func `one incomplete packet is written as one`(count: Int, what: String) {
    var list = PacketList()
    for index in 0..<3 {
      list.append(
        PacketRecord(
          track: 0, index: index, segment: 0, ordinal: index, pts: 0, dts: 0, duration: 1,
          flags: index < count ? .corrupt : [], size: 1, digest: .zero))
    }
    #expect(PacketIndexer.corruptPackets([0: list]) == ["track 0: \(what) incomplete"])
  }
}
