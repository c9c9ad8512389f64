import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeBags

@Suite struct BagExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A session of two cameras, imported from a bag.
  private func session(width: Int = 8, height: Int = 6) throws -> String {
    var bag = SampleBag(topics: [
      .init(name: "/a", type: "sensor_msgs/msg/Image"),
      .init(name: "/b", type: "sensor_msgs/msg/Image"),
    ])
    for number in 0..<5 {
      let stamp = SampleBag.base + Int64(number) * 33_333_333
      bag.add(
        0,
        SampleBag.image(
          stamp, "mono8", SampleBag.pixels(number, width * height), width: width, height: height,
          step: width), at: stamp + 2)
      bag.add(
        1,
        SampleBag.image(
          stamp + 1, "rgb8", SampleBag.pixels(number, 3 * width * height), width: width,
          height: height, step: 3 * width), at: stamp + 3)
    }
    try Data(try bag.mcap()).write(to: folder.file("run.mcap"))
    return try BagImporter(
      BagImportOptions(path: folder.file("run.mcap").path, into: folder.url.path)
    ).run().folder.path
  }

  private func items(_ path: String) throws -> (topics: [BagTopic], messages: [BagMessage]) {
    let bag = try MCAPBag(path, origin: path)
    var messages: [BagMessage] = []
    try bag.read(position: { _ in }) { item in
      switch item {
      case .message(let message): messages.append(message)
      case .loss(let error): Issue.record(error)
      }
    }
    return (bag.topics, messages)
  }

  @Test func `frames are exported as JPEG, one in a message, at their arrivals`() throws {
    let file = folder.file("out.mcap").path
    let topics = try BagExporter(of: try session()).run(to: file)
    #expect(topics.map(\.topic) == ["/a/compressed", "/b/compressed"])
    #expect(topics.map(\.messages) == [5, 5])
    let (read, messages) = try items(file)
    #expect(read.map(\.type) == Array(repeating: "sensor_msgs/msg/CompressedImage", count: 2))
    #expect(read.map(\.count) == [5, 5])
    // In the order of time, over both topics.
    let times = (0..<5).flatMap { number -> [Int64] in
      let stamp = SampleBag.base + Int64(number) * 33_333_333
      return [stamp + 2, stamp + 3]
    }
    #expect(messages.map(\.logNanoseconds) == times)
    for (place, message) in messages.enumerated() {
      let image = try ImageMessage(message.bytes, type: ImageType(.rosCompressed))
      let stamp = times[place] - 2
      #expect(image.stampNanoseconds == stamp)
      guard case .coded("jpeg", false, let data) = image.content else {
        Issue.record("not JPEG")
        continue
      }
      #expect(CodedSize(.mjpeg, data) != nil)
    }
  }

  @Test func `events are exported at their times`() throws {
    let session = try session()
    let writer = try StoreWriter(continuing: SessionFolder(path: session).database)
    writer.append([
      EventRecord(
        ordinal: 0, timeNanoseconds: 5, source: "recorder", kind: "recording.triggered"),
      EventRecord(
        ordinal: 1, timeNanoseconds: 40_000_000, track: 1, source: "recorder",
        kind: "source.back", json: #"{"attempts":2,"gapNanoseconds":7}"#),
    ])
    try writer.close()
    let file = folder.file("events.mcap").path
    let topics = try BagExporter(of: session).run(to: file)
    #expect(topics.last == .init(topic: "/events", type: "retake.Event", messages: 2))
    let (read, messages) = try items(file)
    let events = messages.filter { read[$0.topic].name == "/events" }
    // Between the second and the third frame.
    #expect(read[messages[2].topic].name == "/events")
    #expect(
      events.map(\.logNanoseconds) == [SampleBag.base + 5, SampleBag.base + 40_000_000])
    #expect(
      events.map { String(decoding: $0.bytes, as: UTF8.self) } == [
        #"{"data":{},"kind":"recording.triggered","source":"recorder","#
          + #""timestamp":{"nsec":5,"sec":1700000000},"track":null}"#,
        #"{"data":{"attempts":2,"gapNanoseconds":7},"kind":"source.back","source":"recorder","#
          + #""timestamp":{"nsec":40000000,"sec":1700000000},"track":1}"#,
      ])
  }

  @Test func `what is exported can be imported, and its JPEG stays as it is`() throws {
    let first = folder.file("first.mcap").path
    try BagExporter(of: try session()).run(to: first)
    let again = try BagImporter(
      BagImportOptions(path: first, name: "again", into: folder.url.path)
    ).run()
    #expect(again.status == .clean, "\(again)")
    #expect(again.tracks.map(\.encoding) == ["mjpeg", "mjpeg"])
    #expect(try SessionReader(opening: again.folder.path).info().started != nil)
    let second = folder.file("second.mcap").path
    try BagExporter(of: again.folder.path).run(to: second)
    func images(_ path: String) throws -> [ArraySlice<UInt8>] {
      try items(path).messages.map { message in
        guard
          case .coded(_, _, let data) = try ImageMessage(
            message.bytes, type: ImageType(.rosCompressed)
          )
          .content
        else { return [] }
        return data
      }
    }
    #expect(try images(first) == images(second))
  }

  @Test func `a session without a date has none after an export and an import`() throws {
    let clip = folder.file("clip.mkv").path
    let made = try runCommand(
      "ffmpeg",
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.2",
        "-c:v", "mjpeg", clip,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let session = try SessionImporter(ImportOptions(file: clip, into: folder.url.path)).run()
    let bag = folder.file("undated.mcap").path
    try BagExporter(of: session.folder.path).run(to: bag)
    let again = try BagImporter(
      BagImportOptions(path: bag, name: "undated", into: folder.url.path)
    ).run()
    let info = try SessionReader(opening: again.folder.path).info()
    #expect(info.started == nil && info.startedUnixNanoseconds == nil)
  }

  @Test(
    .enabled(
      if: MediaLibraries.hasEncoder("libx264"), "this FFmpeg has no libx264"))
  func `video has one frame in a message, and parameter sets in front of each key`() throws {
    let file = folder.file("out.mcap").path
    let topics = try BagExporter(
      of: try session(width: 32, height: 32), options: BagExportOptions(codec: .h264, tracks: [1])
    ).run(to: file)
    #expect(topics.map(\.topic) == ["/b/video"])
    let messages = try items(file).messages
    #expect(messages.count == 5)
    for (place, message) in messages.enumerated() {
      let image = try ImageMessage(message.bytes, type: ImageType(.foxgloveVideo))
      guard case .coded("h264", true, let data) = image.content else {
        Issue.record("not H.264")
        continue
      }
      // x264 may begin again at a new scene.
      #expect(place > 0 || KeyPacket.isKey(.h264, data))
    }
    let again = try BagImporter(
      BagImportOptions(path: file, name: "again", into: folder.url.path)
    ).run()
    #expect(again.status == .clean)
    #expect(again.tracks.map(\.frames) == [5])
  }

  @Test func `a golden's results and boxes, and its decisions, are messages of virtual time`()
    throws
  {
    let session = try session()
    var lines =
      "F 0:0 0\nF 0:1 33333333\nD -:0 1.0 2.0 3.0 4.0 0.5000\nF 0:2 66666666\nX drop queue motion\n"
    lines = lines.replacing(
      "F 0:1 33333333\n",
      with: "K 4 dog 0.5000 0-1 nose=1.0,2.0,1.0000 tail=3.0,4.0,0.2500\n"
        + "M -4 a%20person 0.9132 5x4 5310003\n"
        + "L 7 lane 1.0000 open 11.0,12.0 13.0,14.5\nL - nowhere 1.0000 open 1.0,nan\n"
        + "L - car 1.0000 closed 21.0,22.0 23.0,22.0 23.0,24.0\n"
        + "I - depth 1.0000 4x3x1 f32 \(Digest128(of: "depth"))\nF 0:1 33333333\n")
    let digest = Digest128(of: lines)
    lines += "B 3 \(digest)\n"
    let header =
      "#retake 1 chunk=1024 key=run/motion tb=0:1/1000000000,1:1/1000000000 sinks=boxes classes=motion\n"
    try folder.write(header + lines, to: "Goldens/run/motion/results-00000.gold")
    try folder.write(
      "#retake 1 key=run/motion origin=5\n@100 motion 0:2 drop reason=queue\n= 0 f0..f2 n=3 \(digest)\n",
      to: "Goldens/run/motion/decisions.gold")
    let file = folder.file("out.mcap").path
    let topics = try BagExporter(
      of: session,
      options: BagExportOptions(
        tracks: [], goldens: [folder.file("Goldens/run/motion").path])
    ).run(to: file)
    #expect(
      topics.map(\.topic) == [
        "/golden/motion/boxes", "/golden/motion/boxes/annotations", "/golden/motion/decisions",
      ])
    #expect(topics.map(\.messages) == [3, 3, 1])
    let (names, messages) = try items(file)
    func texts(_ topic: String) -> [String] {
      messages.filter { names[$0.topic].name == topic }.map {
        String(decoding: $0.bytes, as: UTF8.self)
      }
    }
    let results = texts("/golden/motion/boxes")
    #expect(
      results[1].contains(
        #""result":{"detections":[{"box":[1,2,3,4],"class":"motion","classIndex":0,"score":0.5}],"fate":"deliver"}"#
      ))
    #expect(
      results[0].contains(
        #""observations":[{"bones":[[0,1]],"identity":4,"label":"dog","points":["#
          + #"{"name":"nose","score":1,"x":1,"y":2},{"name":"tail","score":0.25,"x":3,"y":4}],"#
          + #""score":0.5},{"identity":-4,"label":"a person","mask":{"counts":"5310003","#),
      "\(results[0])")
    let shapes = texts("/golden/motion/boxes/annotations")[0]
    #expect(
      shapes.contains(#""points":[{"x":1,"y":2},{"x":3,"y":4}],"thickness":2"#), "\(shapes)")
    #expect(shapes.contains(#"{"x":4,"y":4}"#) && shapes.contains(#""text":"a person""#))
    #expect(shapes.components(separatedBy: #""type":4"#).count == 3)
    // A chain of lines and a closed one. A line without a place is not drawn.
    let line = #"{"x":11,"y":12},{"x":13,"y":14.5}],"thickness":2,"timestamp":{"#
    let loop = #"[{"x":21,"y":22},{"x":23,"y":22},{"x":23,"y":24}],"thickness":2,"timestamp":{"#
    #expect(shapes.contains(line) && shapes.contains(loop), "\(shapes)")
    #expect([2, 3].map { shapes.components(separatedBy: #""type":\#($0)"#).count } == [2, 2])
    #expect(shapes.contains(#""text":"car""#) && shapes.contains(#""text":"lane""#))
    #expect(!shapes.contains("nowhere") && !shapes.contains("depth"))
    let depth = #"{"image":{"digest":"\#(Digest128(of: "depth"))","size":[3,4,1],"type":"f32"},"#
    #expect(results[0].contains(depth), "\(results[0])")
    #expect(results[2].contains(#""result":{"fate":"drop","node":"motion","reason":"queue"}"#))
    #expect(texts("/golden/motion/boxes/annotations")[1].contains(#"{"x":4,"y":6}"#))
    let decision = try #require(messages.first { names[$0.topic].type == "foxglove.Log" })
    #expect(decision.logNanoseconds == SampleBag.base + 105)
    #expect(String(decoding: decision.bytes, as: UTF8.self).contains(#""level":3"#))
    #expect(throws: BagError.self) {
      try BagExporter(
        of: session, options: BagExportOptions(goldens: [folder.url.path])
      ).run(to: folder.file("none.mcap").path)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.mcap").path))
  }

  @Test func `a golden of another session is refused, and two of one name have two names`() throws {
    let session = try session()
    let reader = try SessionReader(opening: session)
    // A golden of one of the session's tracks, and one of both.
    let first = try reader.inputDigest(tracks: [0])
    let both = try reader.inputDigest(tracks: [0, 1])
    let inputs = [
      ("one", "\(first)", "{camera: 0}"), ("two", "\(both)", "{left: 1, right: 0}"),
      ("other", "00ff", "{camera: 0}"), ("swapped", "\(first)", "{camera: 1}"),
      ("beyond", "\(first)", "{camera: 2}"), ("none", "\(first)", "{}"),
    ]
    let lines = "F 0:0 0\n"
    let header =
      "#retake 1 chunk=1024 key=run/motion tb=0:1/1000000000,1:1/1000000000 sinks=boxes classes=\n"
    for (place, digest, tracks) in inputs {
      try folder.write(
        header + lines + "B 1 \(Digest128(of: lines))\n", to: "\(place)/motion/results-00000.gold")
      try folder.write(
        "v: 1\ninput: {session: run, digest: \(digest), tracks: \(tracks), frames: 5}\n",
        to: "\(place)/motion/golden.yml")
    }
    func exported(_ places: String...) throws -> [String] {
      let goldens = places.map { folder.file("\($0)/motion").path }
      return try BagExporter(
        of: session, options: BagExportOptions(tracks: [], goldens: goldens)
      ).run(to: folder.file("\(places.joined()).mcap").path).map(\.topic)
        .filter { $0.hasSuffix("boxes") }
    }
    #expect(try exported("one", "two") == ["/golden/motion/boxes", "/golden/motion-2/boxes"])
    for place in ["other", "swapped", "beyond", "none"] {
      let error = #expect(throws: BagError.self) { try exported("one", place) }
      #expect(error?.code == "bag.export.nothing")
      #expect(!FileManager.default.fileExists(atPath: folder.file("one\(place).mcap").path))
    }
  }

  @Test func `an existing file is not overwritten`() throws {
    try folder.write("mine", to: "out.mcap")
    #expect(throws: SessionError.self) {
      try BagExporter(of: try session()).run(to: folder.file("out.mcap").path)
    }
  }
}
