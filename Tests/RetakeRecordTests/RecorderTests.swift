import Foundation
import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

@Suite struct RecorderTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func reader(_ result: RecordingResult) throws -> SessionReader {
    try SessionReader(opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
  }

  @Test(arguments: RecordingPreset.available.filter(\.isLossless))
  func `a lossless recording gives every pixel back`(preset: RecordingPreset) throws {
    let scene = Scene(45)
    let result = try record(scene, options: .test(folder, preset: preset))
    #expect(result.status == .clean)
    #expect(result.progress.frames.recorded == 45)
    let reader = try reader(result)
    for sequence in [44, 0, 13, 31, 30, 29, 7] {
      let id = FrameID(track: 0, sequence: sequence)
      #expect(try reader.frame(id).pixelDigest == scene.frame(id).pixelDigest, "\(id)")
    }
  }

  @Test(arguments: RecordingPreset.available)
  func `every frame of a recording decodes alone to its stored hash`(
    preset: RecordingPreset
  ) throws {
    let result = try record(Scene(70), options: .test(folder, preset: preset))
    let diagnosis = try SessionCheck(path: result.folder.path, decodes: true).run()
    #expect(diagnosis.findings == [])
    #expect(diagnosis.framesChecked == 70)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.allSatisfy { $0.pixelHash != nil && $0.entry != nil && $0.cause == nil })
    #expect(rows.packets.allSatisfy { $0.offset != nil }, "each packet is found where it lies")
    #expect(rows.keyDistanceMax <= 30, "a key frame a second")
  }

  @Test(arguments: [PixelFormat.gray, .nv12, .rgb, .bgra, .i422, .i444])
  func `other pixel formats are recorded too`(format: PixelFormat) throws {
    for preset in RecordingPreset.available {
      var options = RecorderOptions.test(folder, preset: preset)
      options.name = "\(preset)-\(format)"
      let result = try record(Scene(3, format: format), options: options)
      #expect(try reader(result).frame(FrameID(track: 0, sequence: 2)).width == 64)
    }
  }

  @Test func `times are the source's own, not the container's`() throws {
    let shots = [0, 1_501, 3_003, 3_003, 900_000, 2_000, 4_504].map { Scene.Shot(pts: $0) }
    let scene = Scene(shots, timeBase: TimeBase(1, 90_000))
    let result = try record(scene, options: .test(folder))
    let entries = try reader(result).entries(of: 0, sequences: 0..<10)
    #expect(entries.map(\.pts) == shots.map(\.pts))
    #expect(entries.map(\.timestamp) == scene.entries(of: 0, sequences: 0..<7).map(\.timestamp))
    let rows = try StoredFrames(result.folder.path).all
    #expect(rows.map(\.assumed) == [[], [], [], .ptsDuplicate, [], .ptsBackwards, .ptsBackwards])
  }

  @Test func `an unpaced recording is the same session every time`() throws {
    let digests = try ["one", "two"].map { name in
      var options = RecorderOptions.test(folder)
      options.name = name
      let machine = name == "one" ? Recorder.Machine.still() : .ticking()
      return try reader(try record(Scene(40), options: options, machine: machine)).sessionDigest()
    }
    #expect(digests[0] == digests[1])
  }

  @Test func `a picture of another size begins another segment`() throws {
    let shots = (0..<30).map { number in
      Scene.Shot(width: number < 10 ? 64 : 96, height: number < 20 ? 48 : 64, pts: Int64(number))
    }
    let scene = Scene(shots)
    let result = try record(scene, options: .test(folder, preset: .ffv1))
    #expect(result.progress.segments == 3)
    let reader = try reader(result)
    for id in [29, 9, 10, 20].map({ FrameID(track: 0, sequence: $0) }) {
      #expect(try reader.frame(id).pixelDigest == scene.frame(id).pixelDigest)
    }
    #expect(
      try StoredFrames(result.folder.path).segments.map(\.reason) == [
        nil, "96x48 I420", "96x64 I420",
      ])
    let findings = try SessionCheck(path: result.folder.path, decodes: true).run().findings
    #expect(findings.map(\.code) == ["session.check.footage"])
  }

  @Test func `a segment ends at its limit, with a key frame behind it`() throws {
    var options = RecorderOptions.test(folder)
    options.segmentDurationMax = .milliseconds(400)
    let result = try record(Scene(40), options: options)
    #expect((3...4).contains(result.progress.segments))
    #expect(try StoredFrames(result.folder.path).segments.allSatisfy { $0.isClosed })
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().findings == [])

    options.name = "again"
    let again = try record(Scene(40), options: options)
    #expect(
      try reader(again).sessionDigest() == reader(result).sessionDigest(),
      "unpaced, a recording is the same every time")
    #expect(again.progress.segments == result.progress.segments)
  }

  @Test func `a recording ends before it has more segments than a session may have`() throws {
    var options = RecorderOptions.test(folder)
    options.segmentDurationMax = .milliseconds(400)
    var machine = Recorder.Machine.ticking()
    machine.segmentsMax = 2
    let result = try record(Scene(60), options: options, machine: machine)
    #expect(result.failure?.code == "record.segments.tooMany")
    #expect(result.failure?.place?.file == result.folder.path)
    #expect(result.isClosed && result.status == .lossy && result.end == .failed)
    #expect(result.progress.segments == 2)
    #expect(try StoredFrames(result.folder.path).segments.count == 2)
    #expect(try reader(result).frame(FrameID(track: 0, sequence: 0)).width > 0)
  }

  @Test func `each commit says what is durable`() throws {
    let reports = Reports()
    let result = try record(
      Scene(60), options: .test(folder), machine: .ticking(), report: reports.add)
    let lines = reports.all
    #expect(lines.count > 3)
    #expect(lines.map(\.closed) == lines.dropLast().map { _ in false } + [true])
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.commit < $1.commit })
    let reader = try reader(result)
    for line in lines {
      #expect(try packetDigest(of: reader, through: line.lastSequence) == line.packetDigest)
      #expect(line.frames.captured == line.lastSequence + 1)
    }
  }

  @Test func `a recording that is stopped is whole`() throws {
    let options = RecorderOptions.test(folder)
    let source = try ReaderSource(Scene(20), name: "endless", repeats: true)
    let held = Mutex<Recorder?>(nil)
    let recorder = try Recorder(source, options: options, machine: .ticking()) { line in
      if line.lastSequence > 50 { held.withLock { $0 }?.stop() }
    }
    held.withLock { $0 = recorder }
    let result = try recorder.run()
    held.withLock { $0 = nil }
    #expect(result.end == .stopped)
    #expect(result.status == .clean && result.isClosed && result.failure == nil)
    #expect(result.progress.frames.recorded == result.progress.frames.captured)
    #expect(try reader(result).tracks[0].frameCount == result.progress.frames.captured)
    let entries = try reader(result).entries(of: 0, sequences: 18..<23)
    #expect(entries.map(\.pts) == [18, 19, 20, 21, 22], "a repeated scene goes on in time")
  }

  @Test func `the limits end a recording`() throws {
    var options = RecorderOptions.test(folder)
    options.framesMax = 7
    let byFrames = try record(Scene(20), options: options)
    #expect((byFrames.end, byFrames.progress.frames.captured) == (.limit, 7))
    options = .test(folder)
    options.name = "duration"
    options.durationMax = .milliseconds(500)
    #expect(try record(Scene(30), options: options).progress.frames.captured == 15)
  }

  @Test func `events are in the session, with the recorder's order`() throws {
    let recorder = try Recorder(
      try Scene(10).source, options: .test(folder), machine: .still())
    recorder.note(source: "app", kind: "button", json: .object(["name": .string("start")]))
    let result = try recorder.run()
    let events = try reader(result).events()
    #expect(events.map(\.kind) == ["button"])
    #expect(events.map(\.json) == [#"{"name":"start"}"#])
  }

  @Test func `device events come back by their time, and only those of the device`() throws {
    let recorder = try Recorder(
      try Scene(10).source, options: .test(folder), machine: .still())
    let noted: [DeviceEvent] = [.thermal(.serious), .battery(BatteryState(level: 7))]
    recorder.note(noted[0])
    recorder.note(source: "app", kind: "thermal")
    recorder.note(noted[1])
    let events = try reader(try recorder.run()).deviceEvents()
    #expect(events.map(\.event) == noted)
    #expect(events.map(\.ordinal) == [0, 2])
  }

  @Test func `a watch hears of the device's events that the app notes`() throws {
    let heard = Mutex<[DeviceEvent]>([])
    let watch = RecordingWatch(
      captured: { _ in }, happened: { event in heard.withLock { $0.append(event) } })
    let recorder = try Recorder(
      try Scene(10).source, options: .test(folder), machine: .still(), watch: watch)
    recorder.note(.thermal(.serious))
    #expect(heard.withLock { $0 } == [.thermal(.serious)])
  }

  @Test func `a device event that nobody knows is named with its place`() throws {
    let recorder = try Recorder(
      try Scene(10).source, options: .test(folder), machine: .still())
    recorder.note(.thermal(.fair))
    recorder.note(source: "device", kind: "thermal", json: .object(["state": .string("hot")]))
    let session = try reader(try recorder.run())
    let error = #expect(throws: DeviceEventError.self) { try session.deviceEvents() }
    #expect(error?.ordinal == 1)
    #expect(error?.place?.file == session.folder.path)
    #expect(error?.place?.pointer == "/state")
  }

  @Test func `a media file is recorded at its own pace`() throws {
    let made = try record(Scene(25), options: .test(folder, preset: .ffv1))
    let source = try MediaFileSource(path: made.folder.path + "/media/video-00000.mkv")
    var options = RecorderOptions.test(folder, preset: .h264)
    options.name = "again"
    options.preset = RecordingPreset.available.contains(.h264) ? .h264 : .ffv1
    let result = try Recorder(source, options: options, machine: .still()).run()
    #expect(result.progress.frames.recorded == 25)
    let (first, second) = (try reader(made), try reader(result))
    for sequence in [0, 12, 24] {
      let id = FrameID(track: 0, sequence: sequence)
      #expect(try first.frame(id).pixelDigest == second.frame(id).pixelDigest)
    }
  }
}
