import Foundation
import GRDB
import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

@Suite struct BagImportTests {
  private let folder: TemporaryFolder
  private let into: String

  init() throws {
    folder = try TemporaryFolder()
    into = folder.file("Recordings").path
  }

  private func importing(
    _ path: String, topics: [String] = [], name: String = "run"
  ) throws -> (BagImportResult, SessionReader) {
    let result = try BagImporter(
      BagImportOptions(path: path, name: name, into: into, topics: topics)
    ).run()
    return (result, try SessionReader(opening: result.folder.path))
  }

  private func write(_ bytes: [UInt8], to name: String) throws -> String {
    let file = folder.file(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file.path
  }

  /// Visible bytes of all frames of a track.
  private func pixels(_ reader: SessionReader, track: Int) throws -> [[UInt8]] {
    let count = reader.tracks.first { $0.track == track }?.frameCount ?? 0
    return try (0..<count).map { number in
      let frame = try reader.frame(FrameID(track: track, sequence: number))
      return (0..<frame.format.planeCount).flatMap { frame.bytes(of: $0) }
    }
  }

  private func swapped(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: 3).flatMap { (place: Int) -> [UInt8] in
      [bytes[place + 2], bytes[place + 1], bytes[place]]
    }
  }

  private func expectCameras(_ path: String, frames: Int = 6, name: String = "run") throws {
    let (result, reader) = try importing(path, name: name)
    #expect(result.status == .clean, "\(result.losses)")
    #expect(result.tracks.map(\.topic) == ["/cam/bgr", "/cam/mono"])
    #expect(result.tracks.map(\.encoding) == ["bgr8", "mono8"])
    #expect(result.leftOut.map(\.reason) == ["std_msgs/msg/String has no image, and no number"])
    #expect(
      try pixels(reader, track: 0) == (0..<frames).map { swapped(SampleBag.pixels(100 + $0, 144)) })
    #expect(try pixels(reader, track: 1) == (0..<frames).map { SampleBag.pixels($0, 48) })
    let expected = (0..<frames).map { Int64($0) * 33_333_333 }
    let rows = try reader.frames(track: 1)
    // Time zero is the stamp of the first image in the bag.
    #expect(rows.map(\.pts) == expected)
    #expect(rows.map(\.arrival) == expected.map { $0 + 2_000_000 })
  }

  @Test func `images of an SQLite bag are its frames, with their stamps and arrivals`() throws {
    let path = folder.file("run.db3").path
    try SampleBag.cameras().writeSQLite(path)
    try expectCameras(path)
  }

  @Test(arguments: SampleBag.Packing.allCases, [1, 4, 100])
  func `images of an MCAP file are its frames, whatever its chunks are`(
    packing: SampleBag.Packing, chunk: Int
  ) throws {
    let bag = SampleBag.cameras()
    try expectCameras(try write(try bag.mcap(chunk: chunk, packing: packing), to: "a.mcap"))
    let unindexed = try bag.mcap(chunk: chunk, packing: packing, hasSummary: false)
    try expectCameras(try write(unindexed, to: "b.mcap"), name: "unindexed")
  }

  @Test func `an MCAP file without chunks is read`() throws {
    let bag = SampleBag.cameras()
    try expectCameras(try write(try bag.mcap(chunk: nil), to: "a.mcap"))
    try expectCameras(
      try write(try bag.mcap(chunk: nil, hasSummary: false), to: "b.mcap"), name: "unindexed")
  }

  @Test func `files that are compressed as a whole, or message by message, are expanded`() throws {
    var bag = SampleBag.cameras()
    try bag.writeSQLite(folder.file("plain.db3").path)
    let plain = [UInt8](try Data(contentsOf: folder.file("plain.db3")))
    try expectCameras(try write(SampleBag.zstd(plain), to: "whole.db3.zstd"), name: "whole")
    try expectCameras(
      try write(SampleBag.zstd(try bag.mcap()), to: "whole.mcap.zstd"), name: "whole-mcap")
    for place in bag.messages.indices {
      bag.messages[place].bytes = SampleBag.zstd(bag.messages[place].bytes)
    }
    try bag.writeSQLite(folder.file("messages.db3").path)
    try expectCameras(folder.file("messages.db3").path, name: "messages")
  }

  @Test
  func `the files of a split bag are read in the order of metadata.yaml, or of their numbers`()
    throws
  {
    var parts = [SampleBag.cameras(), SampleBag.cameras(), SampleBag.cameras()]
    let whole = parts[0].messages
    for place in 0..<3 {
      parts[place].messages = Array(whole[6 * place..<6 * place + 6])
    }
    for (part, number) in zip(parts, [0, 2, 10]) {
      _ = try write(try part.mcap(), to: "split/run_\(number).mcap")
    }
    try expectCameras(folder.file("split").path, name: "numbers")
    try FileManager.default.copyItem(at: folder.file("split"), to: folder.file("listed"))
    let names = ["z", "y", "x"]
    for (name, number) in zip(names, [0, 2, 10]) {
      try FileManager.default.moveItem(
        at: folder.file("listed/run_\(number).mcap"), to: folder.file("listed/\(name).mcap"))
    }
    let list = names.map { "    - \($0).mcap" }.joined(separator: "\n")
    try folder.write(
      "rosbag2_bagfile_information:\n  relative_file_paths:\n\(list)\n  duration:\n    nanoseconds: 1\n",
      to: "listed/metadata.yaml")
    try expectCameras(folder.file("listed").path, name: "listed")
    try FileManager.default.removeItem(at: folder.file("listed/y.mcap"))
    let (result, _) = try importing(folder.file("listed").path, name: "missing")
    #expect(result.status == .lossy)
    #expect(result.losses == ["y.mcap, which metadata.yaml lists, is missing"])
    #expect(result.tracks.map(\.frames) == [4, 4])
  }

  @Test func `a topic that is selected is track 0, and the others are left out`() throws {
    let path = try write(try SampleBag.cameras().mcap(), to: "a.mcap")
    let (result, reader) = try importing(path, topics: ["/cam/mono"])
    #expect(result.tracks.map(\.topic) == ["/cam/mono"])
    #expect(reader.tracks.map(\.track) == [0])
    #expect(Set(result.leftOut.map(\.reason)) == ["it was not selected"])
  }

  @Test func `a topic that is not there, or has no images, is an error`() throws {
    let path = try write(try SampleBag.cameras().mcap(), to: "a.mcap")
    func code(_ topic: String) -> String? {
      #expect(throws: BagError.self) { try importing(path, topics: [topic]) }
      do {
        _ = try importing(path, topics: [topic])
        return nil
      } catch {
        return (error as? BagError)?.code
      }
    }
    #expect(code("/cam/none") == "bag.topic.unknown")
    #expect(code("/note") == "bag.topic.unusable")
    #expect(!FileManager.default.fileExists(atPath: into))
  }

  private struct Encoding: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: Int
    var format: PixelFormat
    var testDescription: String { name }
  }

  private static let encodings = [
    Encoding(name: "rgb8", bytes: 3, format: .rgb),
    Encoding(name: "rgba8", bytes: 4, format: .rgba),
    Encoding(name: "bgra8", bytes: 4, format: .bgra),
    Encoding(name: "8UC1", bytes: 1, format: .gray),
    Encoding(name: "8UC4", bytes: 4, format: .bgra),
    Encoding(name: "16UC1", bytes: 2, format: .gray(bits: 16)),
    Encoding(name: "mono16", bytes: 2, format: .gray(bits: 16)),
    Encoding(name: "yuv422", bytes: 2, format: .i422),
    Encoding(name: "yuv422_yuy2", bytes: 2, format: .i422),
  ]

  @Test(arguments: encodings)
  private func `each encoding has its format, and rows lose their padding`(
    encoding: Encoding
  ) throws {
    let (width, height) = (SampleBag.width, SampleBag.height)
    let row = encoding.bytes * width
    let data = SampleBag.pixels(7, (row + 3) * height)
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    bag.add(0, SampleBag.image(1, encoding.name, data, step: row + 3), at: 5)
    let (_, reader) = try importing(try write(try bag.mcap(), to: "a.mcap"))
    #expect(reader.tracks.map(\.format) == [encoding.format])
    let rows = (0..<height).map { Array(data[$0 * (row + 3)..<$0 * (row + 3) + row]) }
    var expected = rows.flatMap(\.self)
    if encoding.format == .i422 {
      let luma = encoding.name == "yuv422" ? 1 : 0
      func every(_ step: Int, from first: Int) -> [UInt8] {
        rows.flatMap { row in stride(from: first, to: row.count, by: step).map { row[$0] } }
      }
      expected =
        every(2, from: luma) + every(4, from: 1 - luma) + every(4, from: 3 - luma)
    }
    #expect(try pixels(reader, track: 0) == [expected])
  }

  @Test func `words of 16 bits with the most significant byte first are turned`() throws {
    let count = SampleBag.width * SampleBag.height
    let words = SampleBag.pixels(3, 2 * count)
    let turned = (0..<2 * count).map { words[$0 ^ 1] }
    var bag = SampleBag(topics: [.init(name: "/depth", type: "sensor_msgs/msg/Image")])
    let step = 2 * SampleBag.width
    bag.add(0, SampleBag.image(1, "16UC1", words, step: step), at: 5)
    bag.add(0, SampleBag.image(2, "16UC1", turned, step: step, isBigEndian: true), at: 6)
    let (result, reader) = try importing(try write(try bag.mcap(), to: "a.mcap"))
    #expect(result.status == .clean)
    #expect(try pixels(reader, track: 0) == [words, words])
  }

  @Test func `the order that 8UC3 leaves open is the order of OpenCV, with a note`() throws {
    let pixels = SampleBag.pixels(3, 144)
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    bag.add(0, SampleBag.image(1, "8UC3", pixels, step: 24), at: 5)
    let (result, reader) = try importing(try write(try bag.mcap(), to: "a.mcap"))
    #expect(result.tracks.map(\.encoding) == ["8UC3"])
    let red = stride(from: 0, to: 144, by: 3).flatMap {
      [pixels[$0 + 2], pixels[$0 + 1], pixels[$0]]
    }
    #expect(try self.pixels(reader, track: 0) == [red])
    #expect(
      try reader.footageNotes() == [
        "track 0: 8UC3 does not say the order of its channels; they are read as blue, green, red, "
          + "as OpenCV writes them"
      ])
  }

  @Test func `images of another codec are refused with the codecs that are imported`() throws {
    var bag = SampleBag.cameras()
    bag.topics.append(.init(name: "/webp", type: "sensor_msgs/msg/CompressedImage"))
    bag.add(3, SampleBag.compressed(1, "webp", Array("RIFF".utf8)), at: 5)
    let path = try write(try bag.mcap(), to: "a.mcap")
    #expect {
      try importing(path, topics: ["/webp"])
    } throws: { error in
      let error = error as? BagError
      return error?.code == "bag.image.encoding"
        && error?.message == "images of the format 'webp' cannot be imported"
        && error?.cause == "supported: JPEG and PNG images, H.264 and H.265 video"
    }
  }

  @Test(arguments: [("32FC1", "floating-point numbers"), ("16SC1", "a sign")])
  func `samples that no format keeps are refused by their encoding, with the reason`(
    encoding: String, problem: String
  ) throws {
    var bag = SampleBag.cameras()
    bag.topics.append(.init(name: "/depth", type: "sensor_msgs/msg/Image"))
    bag.add(3, SampleBag.image(1, encoding, SampleBag.pixels(1, 192), step: 32), at: 5)
    let path = try write(try bag.mcap(), to: "a.mcap")
    let (result, _) = try importing(path)
    #expect(result.status == .clean)
    #expect(
      result.leftOut.first?.reason.hasSuffix(
        "topic /depth, message 0: images of the encoding '\(encoding)' cannot be imported; its "
          + "samples \(encoding == "32FC1" ? "are" : "have") \(problem), and a session keeps 8 or 16 "
          + "bits without a sign; depth is exact as 16UC1, in millimeters") == true)
    #expect {
      try importing(path, topics: ["/depth"], name: "depth")
    } throws: { error in
      (error as? BagError)?.code == "bag.image.encoding"
        && "\(error)".contains("topic /depth, message 0")
        && (error as? BagError)?.cause?.contains(problem) == true
    }
  }

  @Test func `a new size begins a new media file`() throws {
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    for number in 0..<4 {
      let width = number < 2 ? 8 : 4
      bag.add(
        0,
        SampleBag.image(
          Int64(number + 1) * 1_000, "mono8", SampleBag.pixels(number, 6 * width), width: width,
          step: width), at: Int64(number + 1) * 1_000)
    }
    let (result, reader) = try importing(try write(try bag.mcap(), to: "a.mcap"))
    #expect(result.status == .clean)
    #expect(reader.mediaFiles() == ["media/video-00000.nut", "media/video-00001.nut"])
    #expect(try pixels(reader, track: 0).map(\.count) == [48, 48, 24, 24])
  }

  @Test func `a message without its pixels is a frame with a cause, and the others are whole`()
    throws
  {
    var bag = SampleBag.cameras()
    // The third image of /cam/mono loses its last row.
    let place = try #require(
      bag.messages.indices.filter { bag.messages[$0].topic == 0 }.dropFirst(2).first)
    let stamp = SampleBag.base + 2 * 33_333_333
    bag.messages[place].bytes = SampleBag.image(stamp, "mono8", SampleBag.pixels(2, 40), step: 8)
    let (result, reader) = try importing(try write(try bag.mcap(), to: "a.mcap"))
    #expect(result.status == .lossy)
    #expect(result.tracks.map(\.damaged) == [0, 1])
    #expect(
      result.losses.first?.contains("topic /cam/mono, message 2: 6 rows of 8 bytes are 48 bytes")
        == true)
    let frame = FrameID(track: 1, sequence: 2)
    #expect(throws: SessionError.self) { try reader.frame(frame) }
    #expect(try reader.frame(FrameID(track: 1, sequence: 3)).width == 8)
    let doctor = try SessionCheck(path: result.folder.path, decodes: true).run()
    #expect(!doctor.findings.contains { $0.severity == .error })
  }

  @Test
  func `stamps by another clock move the arrivals, and missing stamps are the times of the bag`()
    throws
  {
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    for number in 0..<3 {
      bag.add(
        0,
        SampleBag.image(
          Int64(number) * 1_000 + 5_000, "mono8", SampleBag.pixels(number, 48), step: 8),
        at: SampleBag.base + Int64(number) * 1_000 + Int64(number) * 10)
    }
    let (result, reader) = try importing(try write(try bag.mcap(), to: "sim.mcap"))
    #expect(result.notes.first?.hasPrefix("the stamps are by another clock than the bag") == true)
    #expect(try reader.frames(track: 0).map(\.pts) == [0, 1_000, 2_000])
    #expect(try reader.frames(track: 0).map(\.arrival) == [0, 1_010, 2_020])
    for place in bag.messages.indices {
      bag.messages[place].bytes = SampleBag.image(0, "mono8", SampleBag.pixels(place, 48), step: 8)
    }
    let (_, second) = try importing(try write(try bag.mcap(), to: "none.mcap"), name: "none")
    #expect(try second.frames(track: 0).map(\.pts) == [0, 1_010, 2_020])
  }

  @Test func `a folder that is no bag says what it is, and which command reads it`() throws {
    let cases: [(file: String, text: String, kind: String, command: String)] = [
      ("ros/run.bag", "#ROSBAG V1.2\n", "a bag of ROS 1, run.bag", "rosbags-convert --src "),
      ("empty/notes.txt", "x", "no .db3, .mcap or .bag file", "Name a .db3, .mcap or .bag file"),
    ]
    for item in cases {
      let path = try folder.write(item.text, to: item.file).deletingLastPathComponent().path
      #expect {
        try importing(path)
      } throws: {
        guard let error = $0 as? BagError else { return false }
        return error.code == "bag.open.notBag" && error.cause?.contains(item.kind) == true
          && error.advice?.contains(item.command) == true
      }
    }
  }

  @Test func `a rate would replace the times of messages`() throws {
    let path = try write(try SampleBag.cameras().mcap(), to: "run/a.mcap")
    for bag in [path, URL(fileURLWithPath: path).deletingLastPathComponent().path] {
      let error = #expect(throws: BagError.self) { try BagFiles(bag, rate: TimeBase(1, 30)) }
      #expect(error?.advice == "Leave out --rate")
    }
  }

  @Test func `a video file, a session's folder and other databases are not bags`() throws {
    #expect(!BagImportOptions.isBag(try folder.write("hello", to: "a.mp4").path))
    let path = folder.file("other.db3").path
    let queue = try DatabaseQueue(path: path)
    try queue.write { try $0.execute(sql: "CREATE TABLE messages (id INTEGER PRIMARY KEY)") }
    try queue.close()
    #expect {
      try importing(path)
    } throws: {
      ($0 as? BagError)?.code == "bag.open.notBag" && "\($0)".contains("no table 'topics'")
    }
    let view = folder.file("view.db3").path
    try SampleBag.cameras().writeSQLite(view) { database in
      try database.execute(
        sql: """
          ALTER TABLE messages RENAME TO m;
          CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
            SELECT id, 1 AS topic_id, 1 AS timestamp, x'00' AS data FROM n;
          """)
    }
    #expect { try importing(view) } throws: { ($0 as? BagError)?.code == "bag.open.notBag" }
    #expect(!FileManager.default.fileExists(atPath: into))
  }
}

extension SessionReader {
  /// Presentation and arrival times of a track.
  func frames(track: Int) throws -> [(pts: Int64, arrival: Int64)] {
    try entries(of: track, sequences: 0..<1_000).map {
      ($0.timestamp.nanoseconds, $0.arrival.nanoseconds)
    }
  }
}
