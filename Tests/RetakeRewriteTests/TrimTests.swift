import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeSession
import RetakeStore
import RetakeTestClips
import Testing

@testable import RetakeRewrite

@Suite struct TrimTests {
  private func trim(
    _ imported: ImportedClip, from: Int, to: Int?, name: String = "span"
  ) throws -> TrimResult {
    try SessionTrim(
      of: imported.path,
      .init(
        from: .milliseconds(from), to: to.map { .milliseconds($0) },
        target: SessionTarget(into: imported.folder.file("Trimmed").path, name: name))
    ).run()
  }

  /// The frames of the original within a span, as they are decoded.
  private func expected(_ imported: ImportedClip, from: Int, to: Int?) throws -> [Frame] {
    let reader = try imported.reader()
    var frames: [Frame] = []
    let entries = try reader.tracks.map { try reader.entries(of: $0.track, sequences: 0..<9_999) }
    let start = entries.compactMap(\.first?.timestamp.nanoseconds).min() ?? 0
    for entry in entries.joined() {
      let time = entry.timestamp.nanoseconds - start
      guard time >= Int64(from) * 1_000_000 else { continue }
      guard to.map({ time < Int64($0) * 1_000_000 }) ?? true else { continue }
      frames.append(try reader.frame(entry.id))
    }
    return frames
  }

  private func frames(_ path: String) throws -> [Frame] {
    let reader = try SessionReader(opening: path, options: ReadOptions(verifiesPixels: true))
    return try reader.tracks.flatMap { track in
      try (0..<track.frameCount).map {
        try reader.frame(FrameID(track: track.track, sequence: $0))
      }
    }
  }

  @Test(arguments: ["1x1", "1x8", "7x1", "5x7"], ["yuv420p", "yuv444p", "gray"])
  func `the smallest pictures are trimmed as all others are`(size: String, format: String) throws {
    let graph = "testsrc2=size=64x64:rate=10,scale=\(size.replacing("x", with: ":")),setsar=1"
    let clip = Clip(
      name: size, file: "small.mkv",
      inputs: ["-f", "lavfi", "-i", graph, "-frames:v", "10"],
      output: ["-c:v", "ffv1", "-level", "1", "-g", "100", "-pix_fmt", format])
    let imported = try ImportedClip(clip)
    let expected = try expected(imported, from: 300, to: 700)

    let result = try trim(imported, from: 300, to: 700)

    #expect(result.frames == 4 && result.encodedFrames == 4 && result.status == .clean)
    #expect(try frames(result.path).map(\.pixelDigest) == expected.map(\.pixelDigest))
  }

  @Test(arguments: Clip.all, [[0, 700], [310, 1_250], [500, 9_000]])
  func `a span replays bit for bit, alone and in any order`(clip: Clip, span: [Int]) throws {
    let imported = try ImportedClip(clip)
    let expected = try expected(imported, from: span[0], to: span[1])
    guard !expected.isEmpty else {
      #expect(code { try trim(imported, from: span[0], to: span[1]) } == "session.trim.empty")
      return
    }

    let result = try trim(imported, from: span[0], to: span[1])

    #expect(result.frames == expected.count && result.status == .clean)
    #expect(result.copiedFrames + result.encodedFrames == expected.count)
    let found = try frames(result.path)
    #expect(found.map(\.pixelDigest) == expected.map(\.pixelDigest))
    #expect(found.map(\.timestamp) == expected.map(\.timestamp))
    #expect(found.map(\.format) == expected.map(\.format))
    #expect(found.map(\.range) == expected.map(\.range))
    #expect(found.map(\.matrix) == expected.map(\.matrix))
    let diagnosis = try SessionCheck(path: result.path, decodes: true).run()
    // The doctor names the sensors, of a clip with audio its sound, and interlaced footage.
    let others = diagnosis.findings.filter {
      !["session.check.sensor", "session.check.footage"].contains($0.code)
    }
    #expect(others.isEmpty, "\(others)")
    try checkLeak(imported, result.path, expected)
  }

  /// No packet of the result shows anything outside the span: neither through its own bytes nor
  /// through anything that a decoder produces from the files as they are.
  private func checkLeak(_ imported: ImportedClip, _ path: String, _ expected: [Frame]) throws {
    let allowed = Set(expected.map(\.pixelDigest))
    let reader = try imported.reader()
    var outside: Set<Digest128> = []
    // Some codecs have packets of a few bytes that only mean "show that image".
    var inside: Set<Digest128> = []
    for track in reader.tracks {
      let store = reader.index.store
      let kept = Set(expected.map(\.timestamp.nanoseconds))
      let packets = try store.packets(track: track.track, indexes: 0..<9_999)
      for row in try store.frames(track: track.track, sequences: 0..<9_999) {
        guard let packet = row.packet else { continue }
        if kept.contains(row.ptsNanoseconds) {
          inside.insert(packets[packet].digest)
        } else {
          outside.insert(packets[packet].digest)
        }
      }
    }
    outside.subtract(inside)
    let copy = try SessionReader(opening: path)
    for name in copy.mediaFiles() {
      let demuxer = try MediaDemuxer(path: path + "/" + name)
      let decoder = try MediaDecoder(stream: try demuxer.videoStream())
      while let packet = try demuxer.nextPacket() {
        #expect(!outside.contains(packet.digest), "\(name): packet \(packet.index)")
        for frame in (try? decoder.decode(packet)) ?? [] where !frame.isDamaged {
          #expect(allowed.contains(frame.frame.pixelDigest), "\(name): packet \(packet.index)")
        }
      }
    }
  }

  @Test func `a span that begins at an entry is copied, and another says what was encoded`() throws
  {
    let imported = try ImportedClip(.motionJPEG)
    let copied = try trim(imported, from: 500, to: 1_000, name: "copied")
    #expect(copied.encodedFrames == 0 && copied.notes.isEmpty)

    let groups = try ImportedClip(.packed)
    let cut = try trim(groups, from: 450, to: nil, name: "cut")
    #expect(cut.encodedFrames > 0 && cut.copiedFrames > cut.encodedFrames)
    #expect(cut.notes.contains { $0.contains("\(cut.encodedFrames) frames") })
  }

  @Test func `open groups of pictures are copied, too, but for what hangs on the past`() throws {
    let imported = try ImportedClip(.openGOP)
    let result = try trim(imported, from: 1_000, to: 3_000)
    #expect(result.encodedFrames > 0 && result.encodedFrames < result.frames / 2)
  }

  @Test func `events of the span come along, and what holds of the device from before`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    func event(_ ordinal: Int, _ time: Int64, _ kind: String, source: String = "device")
      -> EventRecord
    {
      EventRecord(
        ordinal: ordinal, timeNanoseconds: time * 1_000_000, source: source, kind: kind,
        json: #"{"state":"\#(time)"}"#)
    }
    writer.append([
      event(0, 100, "thermal"), event(1, 200, "thermal"), event(2, 250, "note", source: "app"),
      event(3, 600, "thermal"), event(4, 700, "battery"), event(5, 1_100, "thermal"),
    ])
    try writer.close()

    let result = try trim(imported, from: 500, to: 1_000)

    let events = try SessionReader(opening: result.path).events()
    #expect(events.map(\.ordinal) == [0, 1, 2])
    #expect(events.map(\.timestamp.nanoseconds) == [500, 600, 700].map { $0 * 1_000_000 })
    #expect(events.map(\.json) == [200, 600, 700].map { #"{"state":"\#($0)"}"# })
    #expect(result.notes.contains { $0.contains("1 state of the device") })
  }

  @Test func `stage times of the span come along under their frames' new numbers`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.append([RunRecord(run: 3, kind: "live", pipeline: "{}", startedNanoseconds: 0)])
    writer.append([NodeRecord(run: 3, node: "motion", kind: "motion", version: "1")])
    writer.append(
      (0..<60).map { sequence in
        SpanRecord(
          run: 3, node: "motion", track: 0, sequence: sequence, readyNanoseconds: 0,
          startNanoseconds: 0, endNanoseconds: Int64(sequence) + 1, cpuNanoseconds: 1,
          executor: "vision", outcome: "done")
      })
    writer.append([DecisionRecord(run: 3, ordinal: 0, line: "@0 motion 0:0 start")])
    try writer.close()

    let result = try trim(imported, from: 500, to: 1_000)

    let store = try SessionReader(opening: result.path).index.store
    let spans = try store.spans(run: 3, node: "motion")
    #expect(spans.map(\.sequence) == Array(0..<result.frames))
    #expect(spans.first?.endNanoseconds == 16)
    #expect(try store.decisions(run: 3, ordinals: 0..<9).isEmpty)
    #expect(result.notes.contains { $0.contains("decisions") })
  }

  @Test func `a live run of a trimmed session is not reproduced, and the original is named`() throws
  {
    let imported = try ImportedClip(.motionJPEG)
    let facts = JSONValue.object([
      "name": .string("motion"), "workers": .integer(2), "originNanoseconds": .integer(0),
      "exactPixels": .bool(true),
      "tracks": .array([LiveTrack(format: .i420, width: 97, height: 63).json]),
    ])
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    writer.append([
      RunRecord(
        run: 0, kind: "live", pipeline: "{}", startedNanoseconds: 0, json: facts.canonicalText)
    ])
    writer.append(
      (0..<60).map { sequence in
        ExternalEventRecord(
          run: 0, ordinal: sequence, timeNanoseconds: Int64(sequence) * 33_333_333,
          kind: "arrival", json: #"{"frame":"0:\#(sequence)"}"#)
      })
    try writer.close()
    #expect(try imported.reader().liveRun().events(from: 0).count == 60)
    #expect(try !imported.reader().isTrimmed())

    let result = try trim(imported, from: 500, to: 1_000)

    let reader = try SessionReader(opening: result.path)
    #expect(try reader.isTrimmed() && reader.liveRuns() == [0])
    // Its frames were numbered as in the original, where 0:0 is another one.
    #expect(try reader.index.store.externalEvents(run: 0, ordinals: 0..<99).isEmpty)
    #expect(result.notes.contains { $0.hasPrefix("inputs, decisions and results") })
    let error = #expect(throws: SessionError.self) { try reader.liveRun() }
    #expect(error?.code == "session.run.none")
    #expect(error?.advice?.hasSuffix("retake replay clip --mode reproduce --run 0") == true)
    #expect(code { try reader.liveRun(7) } == "session.run.none")
  }

  @Test func `damaged frames stay damaged, and their neighbors are whole`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let packet = try #require(try imported.reader().index.packet(track: 0, index: 20))
    let media = URL(filePath: imported.path + "/media/original.avi")
    var bytes = try Data(contentsOf: media)
    bytes[Int(try #require(packet.offset)) + 40] ^= 1
    try bytes.write(to: media)

    let result = try trim(imported, from: 500, to: 1_000)

    #expect(result.status == .lossy && result.damagedFrames == 1 && result.frames == 15)
    let reader = try SessionReader(opening: result.path)
    let damaged = FrameID(track: 0, sequence: 5)
    #expect(code { try reader.frame(damaged) } == "session.frame.noPixels")
    #expect(try reader.entries(of: 0, sequences: 5..<6).first?.isPayloadMissing == false)
    #expect(code { try reader.frame(FrameID(track: 0, sequence: 6)) } == nil)
    #expect(try SessionCheck(path: result.path, decodes: true).run().isHealthy)
  }

  /// The replacements of a media file.
  enum Replaced: String, CaseIterable {
    case nothing, pipe, deviceLink, linkedFolder, noise

    func put(at path: String) throws {
      let manager = FileManager.default
      let bytes = try Data(contentsOf: URL(filePath: path)).count
      try manager.removeItem(atPath: path)
      switch self {
      case .nothing: break
      case .pipe: #expect(mkfifo(path, 0o600) == 0)
      case .deviceLink:
        try manager.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
      case .linkedFolder:
        try manager.createSymbolicLink(atPath: path, withDestinationPath: "/proc/self")
      case .noise: try Data(repeating: 7, count: bytes).write(to: URL(filePath: path))
      }
    }

    var code: String {
      switch self {
      case .nothing: "session.media.missing"
      case .pipe, .deviceLink: "media.open.special"
      case .linkedFolder: "media.open.directory"
      case .noise: "session.media.mismatch"
      }
    }
  }

  @Test(arguments: Replaced.allCases)
  func `a session whose media cannot be read at all is not trimmed`(replaced: Replaced) throws {
    let imported = try ImportedClip(.openGOP)
    let media = try #require(imported.reader().mediaFiles().first)
    try replaced.put(at: imported.path + "/" + media)

    for (from, to) in [(0, 700), (310, 1_250)] {
      #expect(code { try trim(imported, from: from, to: to) } == replaced.code)
    }

    #expect(!FileManager.default.fileExists(atPath: imported.folder.file("Trimmed").path))
  }

  @Test func `a span in which every frame is damaged is refused rather than made empty`() throws {
    let imported = try ImportedClip(.openGOP)
    let database = imported.path + "/session.sqlite"
    var rows = try StoreReader(opening: database).frames(track: 0, sequences: 0..<10_000)
    for place in rows.indices {
      (rows[place].cause, rows[place].pixelHash, rows[place].packet) = ("shed", nil, nil)
      rows[place].entry = nil
    }
    let writer = try StoreWriter(continuing: database)
    writer.replace(rows)
    try writer.close()

    #expect(code { try trim(imported, from: 0, to: 700) } == "session.frame.noPixels")
  }

  @Test func `what cannot be trimmed is refused by name and leaves nothing`() throws {
    let imported = try ImportedClip(.motionJPEG)
    #expect(code { try trim(imported, from: 5_000, to: nil) } == "session.trim.empty")
    #expect(code { try trim(imported, from: 0, to: 500, name: "a/b") } == "session.name.bad")
    // A session that does not begin at zero, and a span after the last possible time.
    let late = try ImportedClip(.lateStart)
    #expect(code { try trim(late, from: 9_223_372_036_854, to: nil) } == "session.trim.empty")
    #expect(try trim(late, from: 0, to: 9_223_372_036_854).frames == 20)
    let done = try trim(imported, from: 0, to: 500)
    #expect(code { try trim(imported, from: 0, to: 500) } == "session.name.taken")
    let stopped = SessionTrim(
      of: imported.path,
      .init(
        from: .zero, to: .seconds(1),
        target: SessionTarget(into: imported.folder.file("Trimmed").path, name: "stopped"))
    ) { $0.done < 10 }
    #expect(code { try stopped.run() } == "session.interrupted")
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: imported.folder.file("Trimmed").path) == ["span"])
    #expect(done.path.hasSuffix("/Trimmed/span"))
  }

  @Test func `a trimmed session can be trimmed and made again from its media`() throws {
    let imported = try ImportedClip(.packed)
    let first = try trim(imported, from: 300, to: 1_500, name: "first")
    let second = try SessionTrim(
      of: first.path,
      .init(
        from: .milliseconds(200), to: .milliseconds(800),
        target: SessionTarget(into: imported.folder.file("Trimmed").path, name: "second"))
    ).run()
    let all = try frames(first.path)
    let start = try #require(all.first).timestamp.nanoseconds
    let expected = all.filter {
      let time = $0.timestamp.nanoseconds - start
      return time >= 200_000_000 && time < 800_000_000
    }
    #expect(try frames(second.path).map(\.pixelDigest) == expected.map(\.pixelDigest))

    try FileManager.default.removeItem(atPath: first.path + "/session.sqlite")
    let pixels = try expectedPixels(imported)
    let rebuilt = try SessionRecovery(first.path, fromMedia: true).run()
    #expect(rebuilt.frames == first.frames && rebuilt.status == .lossy)
    #expect(try frames(first.path).allSatisfy { pixels.contains($0.pixelDigest) })
  }

  private func expectedPixels(_ imported: ImportedClip) throws -> Set<Digest128> {
    Set(try expected(imported, from: 300, to: 1_500).map(\.pixelDigest))
  }
}
