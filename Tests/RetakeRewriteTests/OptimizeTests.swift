import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeRewrite
@testable import RetakeSession

@Suite struct OptimizeTests {
  private func optimize(
    _ path: String, into folder: TemporaryFolder, name: String? = nil,
    encoding: ReplayEncoding = .raw, isForced: Bool = false,
    freeBytes: @escaping @Sendable (String) -> Int64? = { _ in nil },
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) throws -> OptimizeResult {
    try SessionTranscode(
      of: path,
      .init(
        target: SessionTarget(into: folder.file("Fast").path, name: name), encoding: encoding,
        isForced: isForced), freeBytes: freeBytes, report: report
    ).run()
  }

  /// A lossless encoding with groups: key frames and others.
  private static let grouped = ReplayEncoding(
    name: "h264", isLossless: true, isIntraOnly: false, format: { $0 }
  ) { frame in
    var settings = EncoderSettings(encoder: "libx264", for: frame, timeBase: .milliseconds)
    settings.options = [.init("preset", "ultrafast"), .init("qp", "0")]
    return settings
  }

  private static let lossy = ReplayEncoding(
    name: "mpeg4", isLossless: false, isIntraOnly: false, format: { _ in .i420 }
  ) { frame in
    var settings = EncoderSettings(encoder: "mpeg4", for: frame, timeBase: .milliseconds)
    settings.quantizer = 3
    return settings
  }

  /// Everything that a run can see of a session, including the decoded frames.
  private func checkSame(
    _ path: String, _ copy: String, isExact: Bool = true
  ) throws {
    let (before, after) = (try SessionReader(opening: path), try SessionReader(opening: copy))
    #expect(after.tracks == before.tracks)
    #expect(try after.events() == before.events())
    #expect(try after.liveRuns() == before.liveRuns())
    for track in before.tracks {
      let range = 0..<track.frameCount
      let (old, new) = (
        try before.entries(of: track.track, sequences: range),
        try after.entries(of: track.track, sequences: range)
      )
      #expect(new.count == old.count)
      for (one, two) in zip(old, new) {
        var two = two
        (two.packetDigest, two.isKey) = (one.packetDigest, one.isKey)
        #expect(one == two)
        let (frame, other) = (
          Result { try before.frame(one.id) }, Result { try after.frame(one.id) }
        )
        switch (frame, other) {
        case (.success(let frame), .success(let other)):
          #expect(!isExact || other.digest == frame.digest, "\(one.id)")
          #expect(!isExact || other.pixelDigest == frame.pixelDigest, "\(one.id)")
          #expect(other.rotationDegrees == frame.rotationDegrees)
          #expect(other.isMirrored == frame.isMirrored)
          #expect(other.sampleAspect == frame.sampleAspect)
          #expect(other.timestamp == frame.timestamp)
        case (.failure(let error), .failure(let other)):
          #expect(error.facts.code == other.facts.code)
        default: Issue.record("\(one.id): \(frame) became \(other)")
        }
      }
    }
    let stores = [before.index.store, after.index.store]
    for run in try before.liveRuns() {
      #expect(try Set(stores.map { try $0.decisions(run: run, ordinals: 0..<99_999) }).count == 1)
      #expect(try Set(stores.map { try $0.results(run: run, ordinals: 0..<99_999) }).count == 1)
      #expect(
        try Set(stores.map { try $0.externalEvents(run: run, ordinals: 0..<99_999) }).count == 1)
      #expect(try Set(stores.map { try $0.nodes(run: run) }).count == 1)
    }
  }

  private func checkCopy(
    _ path: String, _ result: OptimizeResult, _ before: [String: Data]
  ) throws {
    #expect(try contents(of: path) == before)
    #expect(result.exact && result.differingFrames == 0)
    try checkSame(path, result.path)
    let diagnosis = try SessionCheck(path: result.path, decodes: true).run()
    #expect(diagnosis.isHealthy, "\(diagnosis.findings)")
    let (old, new) = (try SessionReader(opening: path), try SessionReader(opening: result.path))
    for tracks in InputLineage.choices(of: old.index.tracks) {
      #expect(try new.inputDigest(tracks: tracks) == old.inputDigest(tracks: tracks))
      #expect(try new.storedDigest(tracks: tracks) != old.storedDigest(tracks: tracks))
    }
    // Read at their offsets, not through a demuxer.
    for track in new.index.tracks {
      let packets = try new.index.store.packets(track: track, indexes: 0..<99_999)
      #expect(packets.allSatisfy { $0.offset != nil })
    }
  }

  @Test(arguments: ["figures", "cut", "pulse"])
  func `a copy of a recording is the same, frame for frame`(name: String) throws {
    let folder = try TemporaryFolder()
    let path = packageRoot.appending(path: "Recordings/\(name)").path
    let before = try contents(of: path)
    let result = try optimize(path, into: folder)
    #expect(result.path == folder.file("Fast/\(name)").path && result.codec == "raw")
    try checkCopy(path, result, before)
  }

  @Test(arguments: Clip.all)
  func `a copy of a clip of any codec is the same, frame for frame`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let before = try contents(of: imported.path)
    try checkCopy(imported.path, try optimize(imported.path, into: imported.folder), before)
  }

  private static func lossless(
    _ format: String, size: String = "99x77", more: [String] = []
  ) -> Clip {
    Clip(
      name: "\(format) \(size) \(more)", file: "clip.mkv",
      inputs: ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30", "-frames:v", "30"],
      output: ["-c:v", "ffv1", "-pix_fmt", format] + more)
  }

  @Test(arguments: [
    lossless("yuv420p"), lossless("yuv422p"), lossless("yuv444p"), lossless("gray"),
    lossless("bgra"), lossless("yuv420p", more: ["-color_range", "pc"]),
    lossless("yuv420p", size: "64x48", more: ["-colorspace", "bt709", "-aspect", "4:1"]),
    lossless("yuv420p", size: "9x7"),
  ])
  func `odd sizes, formats, ranges and aspects are kept`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let before = try contents(of: imported.path)
    try checkCopy(imported.path, try optimize(imported.path, into: imported.folder), before)
  }

  @Test(arguments: [[0, 1, -1, 0], [-1, 0, 0, 1], [0, 1, 1, 0.0]])
  func `a picture's turn and mirror are kept`(matrix: [Double]) throws {
    let imported = try ImportedClip(.fragmented)
    let turned = imported.folder.file("turned.mp4").path
    try turnMovie(imported.source.path, matrix: matrix, into: turned)
    let session = try SessionImporter(
      ImportOptions(file: turned, name: "turned", into: imported.folder.file("R").path)
    ).run()
    let track = try #require(try SessionReader(opening: session.folder.path).tracks.first)
    #expect((track.rotationDegrees != 0) == (matrix[0] == 0))
    #expect(track.isMirrored == (matrix != [0, 1, -1, 0]))
    let before = try contents(of: session.folder.path)
    try checkCopy(
      session.folder.path, try optimize(session.folder.path, into: imported.folder), before)
  }

  @Test(arguments: [Clip.openGOP, .oddSize, .twoTracks])
  func `groups of an exact codec are exact too`(clip: Clip) throws {
    let imported = try ImportedClip(clip)
    let before = try contents(of: imported.path)
    let result = try optimize(imported.path, into: imported.folder, encoding: Self.grouped)
    try checkCopy(imported.path, result, before)
    let entries = try SessionReader(opening: result.path).index.store.entrySequences(track: 0)
    #expect(
      entries.isEmpty || entries == Array(stride(from: 0, to: 120, by: 12).prefix(entries.count)))
  }

  @Test func `a lossy copy says so and keeps all but the pixels`() throws {
    let imported = try ImportedClip(.openGOP)
    let result = try optimize(imported.path, into: imported.folder, encoding: Self.lossy)
    #expect(!result.exact && result.differingFrames == result.frames)
    #expect(result.notes.contains { $0.contains("goldens will not be equal") })
    try checkSame(imported.path, result.path, isExact: false)
    #expect(try SessionCheck(path: result.path, decodes: true).run().isHealthy)
    let (old, new) = (try imported.reader(), try SessionReader(opening: result.path))
    #expect(try new.inputDigest(tracks: [0]) != old.inputDigest(tracks: [0]))
  }

  /// A session with frames of all fates, a live run, events, notes and a sidecar.
  private func eventful() throws -> ImportedClip {
    let imported = try ImportedClip(.motionJPEG)
    let sidecar = Data("gyro".utf8)
    try sidecar.write(to: URL(filePath: imported.path + "/media/gyro.csv"))
    try Data("seen in the yard\n".utf8).write(to: URL(filePath: imported.path + "/NOTES.md"))
    var rows = try imported.reader().index.store.frames(track: 0, sequences: 0..<60)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    for place in [0, 30, 59] {
      (rows[place].packet, rows[place].entry, rows[place].pixelHash) = (nil, nil, nil)
      rows[place].cause = "record.shed"
    }
    for place in [1, 31, 32] { rows[place].cause = "media.packet.corrupt" }
    rows[7].arrivalNanoseconds += 5_000_000
    rows[8].assumed = [.ptsBestEffort]
    writer.replace(rows)
    writer.append([
      FileRecord(
        path: "media/gyro.csv", role: "sidecar",
        sha256: bytes(
          hex: Sha256.digest(
            of: try Data(contentsOf: URL(filePath: imported.path + "/media/gyro.csv")))))
    ])
    writer.append([
      EventRecord(ordinal: 0, timeNanoseconds: 5, source: "app", kind: "note", json: #"{"a":1}"#)
    ])
    writer.append([
      RunRecord(
        run: 3, kind: "live", pipeline: "{}", startedNanoseconds: 0, json: #"{"exactPixels":true}"#)
    ])
    writer.append([NodeRecord(run: 3, node: "motion", kind: "motion", version: "1")])
    writer.append([
      SpanRecord(
        run: 3, node: "motion", track: 0, sequence: 9, readyNanoseconds: 0, startNanoseconds: 0,
        endNanoseconds: 7, cpuNanoseconds: 1, executor: "vision", outcome: "done")
    ])
    writer.append([DecisionRecord(run: 3, ordinal: 0, line: "@0 motion 0:0 start")])
    writer.append([ResultRecord(run: 3, ordinal: 0, sink: "boxes", line: "F 0 0")])
    writer.setMeta("status", "lossy")
    writer.setMeta("losses", "three frames")
    try writer.close()
    return imported
  }

  @Test func `damage, missing pixels, runs, events, sidecars and notes come along`() throws {
    let imported = try eventful()
    let before = try contents(of: imported.path)
    let result = try optimize(imported.path, into: imported.folder, name: "quick")
    try checkCopy(imported.path, result, before)
    #expect(result.status == .lossy && result.frames == 60 && result.damagedFrames == 6)
    let store = try SessionReader(opening: result.path).index.store
    #expect(try store.meta("losses") == "three frames")
    #expect(try store.spans(run: 3, node: "motion").map(\.endNanoseconds) == [7])
    #expect(try store.runs().map(\.json) == [#"{"exactPixels":true}"#])
    let copied = try contents(of: result.path)
    #expect(copied["media/gyro.csv"] == before["media/gyro.csv"])
    let notes = String(decoding: copied["NOTES.md"] ?? Data(), as: UTF8.self)
    #expect(notes.contains("replay copy of the session clip") && notes.contains("in the yard"))
    let fact = try #require(try store.meta("optimised"))
    #expect(fact.contains(#""codec":"raw""#) && fact.contains(#""exact":true"#))
    #expect(fact.contains("\(try imported.reader().sessionDigest())"))
    #expect(
      try SessionCheck(path: result.path).run().findings.allSatisfy { $0.severity != .error })
  }

  @Test func `a lossy copy's live run no longer claims the pipeline's pixels`() throws {
    let imported = try eventful()
    let result = try optimize(imported.path, into: imported.folder, encoding: Self.lossy)
    let store = try SessionReader(opening: result.path).index.store
    #expect(try store.runs().map(\.json) == [#"{"exactPixels":false}"#])
    #expect(try store.decisions(run: 3, ordinals: 0..<9).count == 1)
  }

  @Test func `a copy of which a row was changed stands for its original no more`() throws {
    let imported = try ImportedClip(.oddSize)
    let result = try optimize(imported.path, into: imported.folder)
    let writer = try StoreWriter(continuing: result.path + "/session.sqlite")
    writer.append([EventRecord(ordinal: 0, timeNanoseconds: 5, source: "app", kind: "note")])
    try writer.close()
    let (old, new) = (try imported.reader(), try SessionReader(opening: result.path))
    #expect(try new.inputDigest(tracks: [0]) != old.inputDigest(tracks: [0]))
  }

  @Test func `a copy of an exact copy stands for the first original`() throws {
    let imported = try ImportedClip(.oddSize)
    let first = try optimize(imported.path, into: imported.folder, name: "first")
    let second = try optimize(
      first.path, into: imported.folder, name: "second", encoding: .raw, isForced: true)
    #expect(second.exact)
    #expect(
      try SessionReader(opening: second.path).inputDigest(tracks: [0])
        == imported.reader().inputDigest(tracks: [0]))
  }

  @Test func `what cannot be optimized is refused by name and leaves nothing`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let folder = imported.folder
    let raw = try optimize(imported.path, into: folder, name: "raw")
    #expect(
      code { try optimize(raw.path, into: folder, name: "x") } == "session.transcode.alreadyFast")
    #expect(code { try optimize(imported.path, into: folder, name: "raw") } == "session.name.taken")
    #expect(code { try optimize(imported.path, into: folder, name: "a/b") } == "session.name.bad")
    let error = #expect(throws: SessionError.self) {
      try optimize(imported.path, into: folder, name: "x", freeBytes: { _ in 100_000 })
    }
    #expect(error?.code == "session.transcode.noRoom")
    #expect(error?.message.contains("100.0 kB") == true, "\(String(describing: error))")
    for done in [1, 20, 60, 61, 119] {
      let result = code {
        try optimize(imported.path, into: folder, name: "x", report: { $0.done < done })
      }
      #expect(result == "session.interrupted")
    }
    let packet = try #require(try imported.reader().index.packet(track: 0, index: 20))
    let media = URL(filePath: imported.path + "/media/original.avi")
    var bytes = try Data(contentsOf: media)
    bytes[Int(try #require(packet.offset)) + 40] ^= 1
    try bytes.write(to: media)
    #expect(
      code { try optimize(imported.path, into: folder, name: "x") } == "session.media.mismatch")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.file("Fast").path) == ["raw"])
  }

  @Test func `a codec that calls itself exact and is not is found out`() throws {
    let imported = try ImportedClip(.motionJPEG)
    let liar = ReplayEncoding(
      name: "liar", isLossless: true, isIntraOnly: true, format: { $0 }
    ) { frame in
      var settings = EncoderSettings(encoder: "mjpeg", for: frame, timeBase: .milliseconds)
      settings.quantizer = 20
      return settings
    }
    let found = code { try optimize(imported.path, into: imported.folder, encoding: liar) }
    #expect(found == "session.transcode.differs")
    #expect(!FileManager.default.fileExists(atPath: imported.folder.file("Fast").path))
  }

  @Test func `a track without any pixels is refused`() throws {
    let imported = try ImportedClip(.oddSize)
    var rows = try imported.reader().index.store.frames(track: 0, sequences: 0..<20)
    let writer = try StoreWriter(continuing: imported.path + "/session.sqlite")
    for place in rows.indices { rows[place].cause = "media.packet.corrupt" }
    writer.replace(rows)
    try writer.close()
    #expect(
      code { try optimize(imported.path, into: imported.folder) } == "session.transcode.noImages")
  }
}
