import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A file with two video tracks that run in parallel: 60 frames of one, 30 of the other.
private struct Rig {
  let folder: TemporaryFolder
  let clip: String

  init() throws {
    folder = try TemporaryFolder("retake-rig")
    clip = folder.file("rig.mkv").path
    let result = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-f",
        "lavfi", "-i", "testsrc=size=96x64:rate=15", "-map", "0", "-map", "1", "-t", "2", "-c:v",
        "mpeg4", "-pix_fmt", "yuv420p", clip,
      ])
    try #require(result.status == 0, "\(result.stderr)")
  }

  func source(_ tracks: MediaFileSource.Tracks = .all) throws -> MediaFileSource {
    try MediaFileSource(path: clip, tracks: tracks)
  }

  /// The pixels as the source delivers them, by track.
  func pixels() throws -> [[Digest128]] {
    let stream = try source().open()
    var digests: [[Digest128]] = [[], []]
    while let frame = try stream.next() { digests[frame.track].append(frame.frame.pixelDigest) }
    return digests
  }

  func pixels(of path: String) throws -> [[Digest128]] {
    let reader = try SessionReader(opening: path)
    return try reader.tracks.map { track in
      try (0..<track.frameCount).map {
        try reader.frame(FrameID(track: track.track, sequence: $0)).pixelDigest
      }
    }
  }
}

@Suite struct SeveralTracksTests {
  @Test func `all video tracks of a file are recorded, each with every frame of its own`() throws {
    let rig = try Rig()
    let result = try Recorder(
      try rig.source(), options: .test(rig.folder, preset: .ffv1), machine: .still()
    ).run()
    #expect(result.status == .clean && result.progress.frames.recorded == 90)
    let tracks = try #require(result.progress.tracks)
    #expect(tracks.map(\.frames.captured) == [60, 30])
    #expect(tracks.map(\.frames.recorded) == [60, 30])
    let path = result.folder.path
    #expect(try rig.pixels(of: path) == rig.pixels())
    let reader = try SessionReader(opening: path)
    #expect(reader.tracks.map(\.width) == [64, 96])
    #expect(try packetDigest(of: reader, through: 59) == result.progress.packetDigest)
    #expect(
      reader.mediaFiles().sorted() == ["media/video-00000.mkv", "media/video-t1-00001.mkv"])
    #expect(try SessionCheck(path: path, decodes: true).run().isHealthy)
  }

  @Test func `frames of several tracks come in the order of their times`() throws {
    let rig = try Rig()
    let stream = try rig.source().open()
    var all: [(Int64, Int)] = []
    while let frame = try stream.next() {
      all.append((frame.frame.timestamp.nanoseconds, frame.track))
    }
    #expect(all.count == 90)
    #expect(all.map(\.0) == all.map(\.0).sorted())
    #expect(all.prefix(4).map(\.1) == [0, 1, 0, 0] || all.prefix(3).map(\.1) == [0, 1, 0])
  }

  @Test func `one track of several is track 0 of its session, and one that is not there is named`()
    throws
  {
    let rig = try Rig()
    let result = try Recorder(
      try rig.source(.streams([1])), options: .test(rig.folder), machine: .still()
    ).run()
    #expect(result.progress.frames.recorded == 30 && result.progress.tracks == nil)
    #expect(try SessionReader(opening: result.folder.path).tracks.map(\.width) == [96])
    #expect(code { try rig.source(.streams([0, 7])) } == "media.demux.noTrack")
  }

  @Test func `a segment ends for each track by itself, and all that was committed survives`() throws
  {
    let rig = try Rig()
    var options = RecorderOptions.test(rig.folder)
    options.segmentDurationMax = .seconds(1)
    let reports = Reports()
    let result = try Recorder(try rig.source(), options: options, machine: .ticking()) { line in
      guard !line.closed else { return }
      try? FileManager.default.copyItem(
        atPath: rig.folder.file("yard").path, toPath: rig.folder.file("cut-\(line.commit)").path)
      reports.add(line)
    }.run()
    #expect(result.progress.segments == 4)
    #expect(reports.all.count > 4)
    let whole = try rig.pixels(of: result.folder.path)
    for line in reports.all {
      let path = rig.folder.file("cut-\(line.commit)").path
      let recovered = try SessionRecovery(path).run()
      #expect(recovered.frames == line.frames.captured && recovered.damagedFrames == 0)
      let counts = line.tracks.map { $0.map(\.frames.recorded) } ?? []
      for (track, pixels) in try rig.pixels(of: path).enumerated() {
        #expect(pixels == Array(whole[track].prefix(counts[track])))
      }
    }
  }

  @Test func `what lies behind the last commit is found again for each track`() throws {
    let rig = try Rig()
    let reports = Reports()
    let result = try Recorder(
      try rig.source(), options: .test(rig.folder), machine: .ticking()
    ) { line in
      guard line.commit == 4 else { return }
      try? FileManager.default.copyItem(
        atPath: rig.folder.file("yard").path, toPath: rig.folder.file("cut").path)
      reports.add(line)
    }.run()
    #expect(reports.all.count == 1)
    let cut = rig.folder.file("cut").path
    // The media continues to its end; the rows end at the fourth commit.
    try FileManager.default.removeItem(atPath: cut + "/media")
    try FileManager.default.copyItem(atPath: result.folder.path + "/media", toPath: cut + "/media")
    let recovered = try SessionRecovery(cut, fromMedia: true).run()
    #expect(recovered.frames == 90)
    #expect(try rig.pixels(of: cut) == rig.pixels(of: result.folder.path))
    try FileManager.default.removeItem(atPath: cut + "/session.sqlite")
    let made = try SessionRecovery(cut, fromMedia: true).run()
    #expect(made.frames == 90)
    #expect(try rig.pixels(of: cut) == rig.pixels(of: result.folder.path))
  }

  @Test func `a file that fails takes frames of its own track, and the other track goes on`() throws
  {
    let rig = try Rig()
    let disk = FailingDisk([.init(call: .synchronize, number: 2, errorNumber: EIO)])
    var machine = Recorder.Machine.ticking()
    machine.makeSink = { path in
      path.contains("-t1-") ? disk.sink(path) : FileSink.create(path)
    }
    let result = try Recorder(
      try rig.source(), options: .test(rig.folder, preset: .ffv1), machine: machine
    ).run()
    #expect(result.status == .lossy && result.failure == nil)
    let tracks = try #require(result.progress.tracks)
    #expect(tracks[0].frames.recorded == 60)
    let lost = tracks[1].frames.missing
    #expect((lost["record.lost.write"] ?? 0) > 0)
    #expect(tracks[1].frames.recorded + lost.values.reduce(0, +) == 30)
    let source = try rig.pixels()
    let reader = try SessionReader(opening: result.folder.path)
    for track in 0..<2 {
      for entry in try reader.entries(of: track, sequences: 0..<60) where !entry.isPayloadMissing {
        #expect(try reader.frame(entry.id).pixelDigest == source[track][entry.id.sequence])
      }
    }
  }

  @Test func `a ring keeps one track only`() throws {
    let rig = try Rig()
    var options = RecorderOptions.test(rig.folder)
    options.ring = .seconds(1)
    #expect(
      code { try Recorder(try rig.source(), options: options, machine: .still()) }
        == "record.ring.tracks")
  }

  @Test func `a live pipeline gets the tracks that its sources name, and no other`() throws {
    let rig = try Rig()
    let two = try Self.run(rig, reading: [0, 1], name: "two")
    #expect(two.tracks.map(\.track) == [0, 1])
    #expect(two.tracks.map(\.produced) == [60, 30])
    #expect(two.tracks.allSatisfy { $0.accepted + $0.dropped == $0.produced })
    let one = try Self.run(rig, reading: [1], name: "one")
    #expect(one.tracks.map(\.track) == [1] && one.produced == 30)
    #expect(one.accepted + one.dropped == 30)
    #expect(one.results == one.accepted)
  }

  private static func run(_ rig: Rig, reading tracks: [Int], name: String) throws
    -> PipelineProgress
  {
    var nodes: [PipelineNode] = []
    var edges: [PipelineEdge] = []
    for track in tracks {
      nodes.append(PipelineNode(id: "camera\(track)", stage: .pushedFrames(track: track)))
      nodes.append(PipelineNode(id: "sum\(track)", stage: AnyStage(Brightness())))
      nodes.append(PipelineNode(id: "found\(track)", stage: .results))
      edges += [
        PipelineEdge(from: "camera\(track)", to: "sum\(track)", capacity: 3, policy: .dropNewest),
        PipelineEdge(from: "sum\(track)", to: "found\(track)"),
      ]
    }
    var live = LivePipeline(
      Pipeline(name: name, nodes: nodes, edges: edges), registry: StageRegistry())
    live.watchesDevice = false
    var options = RecorderOptions.test(rig.folder)
    options.name = name
    let result = try Recorder(
      try rig.source(), options: options, machine: Recorder.Machine(), pipeline: live
    ).run()
    #expect(result.progress.frames.recorded == 90)
    return try #require(result.progress.pipeline)
  }
}

struct Brightness: PureStage {
  static let kind = "brightness"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("sum", Double(frame.bytes(of: 0).sum))])
  }
}

extension AnyStage {
  static func pushedFrames(track: Int) -> AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: sessionKind, version: 1, role: .source, input: nil, output: .frame),
      options: .object(["track": .integer(Int64(track))]),
      body: .source(SessionSource(track: track)))
  }

  static var results: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
  }
}
