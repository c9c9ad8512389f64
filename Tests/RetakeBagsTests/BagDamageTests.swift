import Foundation
import GRDB
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Bags that are cut or damaged, or that have false lengths and numbers.
@Suite struct BagDamageTests {
  private let folder: TemporaryFolder
  private let into: String

  init() throws {
    folder = try TemporaryFolder()
    into = folder.file("Recordings").path
  }

  private func write(_ bytes: [UInt8], to name: String = "a.mcap") throws -> String {
    try Data(bytes).write(to: folder.file(name))
    return folder.file(name).path
  }

  private func importing(_ path: String, name: String = "run") throws -> BagImportResult {
    try BagImporter(BagImportOptions(path: path, name: name, into: into)).run()
  }

  /// The error's code and text.
  private func failure(_ bytes: [UInt8]) throws -> (code: String, text: String)? {
    do {
      _ = try importing(try write(bytes))
      return nil
    } catch let error as any CodedError {
      #expect(!FileManager.default.fileExists(atPath: into), "something was left behind")
      return (error.code, "\(error)")
    }
  }

  private func loss(_ bytes: [UInt8], frames: [Int]) throws -> String {
    let result = try importing(try write(bytes))
    #expect(result.tracks.map(\.frames) == frames)
    #expect(result.status == .lossy)
    return result.losses.joined(separator: "; ")
  }

  private let bag = SampleBag.cameras()

  // MARK: Topics that are left out

  @Test func `tracks have no holes where topics are left out after their first message`() throws {
    var bag = SampleBag()
    for name in ["/a", "/b", "/c", "/d"] {
      bag.topics.append(
        .init(
          name: name,
          type: name == "/c" ? "sensor_msgs/msg/CompressedImage" : "sensor_msgs/msg/Image"))
    }
    // A PNG of 8x6 without an image in it.
    let png: [UInt8] =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
      + [0, 0, 0, 8, 0, 0, 0, 6] + [UInt8](repeating: 7, count: 40)
    for number in 0..<4 {
      let stamp = SampleBag.base + Int64(number) * 33_333_333
      bag.add(0, [0, 1, 0, 0, 1, 2], at: stamp)
      bag.add(1, SampleBag.image(stamp, "mono8", SampleBag.pixels(number, 48), step: 8), at: stamp)
      bag.add(2, SampleBag.compressed(stamp, "png", png), at: stamp)
      bag.add(
        3, SampleBag.image(stamp, "bgr8", SampleBag.pixels(100 + number, 144), step: 24), at: stamp)
    }
    let result = try importing(try write(try bag.mcap()))
    #expect(result.tracks.map(\.topic) == ["/b", "/d"])
    #expect(result.tracks.map(\.track) == [0, 1])
    #expect(result.leftOut.map(\.topic) == ["/a", "/c"])
    let reader = try SessionReader(opening: result.folder.path)
    #expect(reader.tracks.map(\.track) == [0, 1])
    #expect(reader.mediaFiles() == ["media/video-00000.nut", "media/video-t1-00000.nut"])
    #expect(try reader.info().tracks.map(\.topic) == ["/b", "/d"])
    #expect(try reader.info().tracks.map(\.codec) == ["rawvideo", "rawvideo"])
    for number in 0..<4 {
      let gray = try reader.frame(FrameID(track: 0, sequence: number))
      #expect(gray.bytes(of: 0) == SampleBag.pixels(number, 48))
      #expect(try reader.frame(FrameID(track: 1, sequence: number)).format == .rgb)
    }
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  private static let numbers = SampleBag(
    topics: [.init(name: "/temperature", type: "sensor_msgs/msg/Temperature")])

  @Test func `a bag with numbers alone says which topics it has, and whether it was cut`() throws {
    var bag = Self.numbers
    for number in 0..<40 {
      bag.add(0, SampleBag.image(0, "mono8", [1, 2], step: 2), at: SampleBag.base + Int64(number))
    }
    let whole = try bag.mcap(chunk: 4)
    let failure = try #require(try failure(whole))
    #expect(failure.code == "bag.image.none")
    #expect(
      failure.text.contains("/temperature: sensor_msgs/msg/Temperature has numbers and no image"))
    #expect(!failure.text.contains("no topics") && !failure.text.contains("was cut"))
    let cut = try #require(try self.failure(Array(whole.prefix(whole.count / 2))))
    #expect(cut.code == "bag.image.none")
    #expect(cut.text.contains("a.mcap was cut: its end is missing; /temperature: sensor_msgs"))
    let empty = try #require(try self.failure(try SampleBag().mcap()))
    #expect(empty.text.contains("it has no topics") && !empty.text.contains("was cut"))
  }

  @Test func `an error names twenty topics at most`() throws {
    var bag = SampleBag()
    for number in 0..<25 {
      bag.topics.append(.init(name: "/t\(number)", type: "sensor_msgs/msg/Temperature"))
      bag.add(number, [0, 1, 0, 0], at: SampleBag.base)
    }
    let failure = try #require(try failure(try bag.mcap()))
    #expect(failure.text.contains("5 more topics"))
    #expect(failure.text.components(separatedBy: "has numbers and no image").count == 21)
  }

  // MARK: Cut files

  @Test func `of a cut MCAP file the whole messages are frames`() throws {
    let whole = try bag.mcap(chunk: 3)
    // Inside of the fourth chunk, whose first message is complete.
    let starts = try MCAPBagTests.chunkStarts(whole)
    let cut = Array(whole.prefix(starts[3] + 300))
    let text = try loss(cut, frames: [3, 4])
    #expect(text.contains("a.mcap, byte \(starts[3]): a chunk claims"))
    #expect(text.contains("nothing behind it is read"))
  }

  @Test(arguments: [SampleBag.Packing.lz4, .zstd])
  func `of a compressed chunk that is cut, messages before it are frames`(
    packing: SampleBag.Packing
  ) throws {
    let whole = try bag.mcap(chunk: 3, packing: packing)
    let starts = try MCAPBagTests.chunkStarts(whole)
    let result = try importing(try write(Array(whole.prefix(starts[3] + 60))))
    #expect(result.status == .lossy)
    #expect(result.tracks.allSatisfy { $0.frames >= 3 })
  }

  @Test func `of an SQLite bag that ends inside of a page, rows whose pages are there are frames`()
    throws
  {
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    for number in 0..<40 {
      let stamp = SampleBag.base + Int64(number)
      bag.add(
        0,
        SampleBag.image(
          stamp, "mono8", SampleBag.pixels(number, 40_000), width: 200, height: 200, step: 200),
        at: stamp)
    }
    try bag.writeSQLite(folder.file("whole.db3").path)
    let whole = [UInt8](try Data(contentsOf: folder.file("whole.db3")))
    for cut in [whole.count / 2 + 100, whole.count / 3 + 4_000, whole.count - 1] {
      let path = try write(Array(whole.prefix(cut)), to: "cut.db3")
      let result = try importing(path, name: "cut-\(cut)")
      #expect(result.status == .lossy)
      let count = try #require(result.tracks.first?.frames)
      #expect((10..<40).contains(count))
      let reader = try SessionReader(opening: result.folder.path)
      for number in 0..<count {
        let bytes = try reader.frame(FrameID(track: 0, sequence: number)).bytes(of: 0)
        #expect(bytes == SampleBag.pixels(number, 40_000))
      }
      #expect(result.losses.first?.contains("cut.db3, message \(count + 1): ") == true)
    }
  }

  // MARK: Lies

  @Test func `a chunk with another checksum is left out, and named`() throws {
    var bytes = try bag.mcap(chunk: 3)
    let start = try MCAPBagTests.chunkStarts(bytes)[1]
    bytes[start + 200] ^= 1
    let text = try loss(bytes, frames: [5, 5])
    #expect(text.contains("a.mcap, byte \(start): the checksum of a chunk is"))
    #expect(text.contains("15 of 18 messages could be read"))
  }

  @Test func `behind a record that claims 2^64 bytes reading continues with the next known chunk`()
    throws
  {
    var bytes = try bag.mcap(chunk: 3)
    let starts = try MCAPBagTests.chunkStarts(bytes)
    bytes.replaceSubrange(starts[1] + 1..<starts[1] + 9, with: [UInt8](repeating: 0xFF, count: 8))
    // Only the length is false: the chunk's own fields, and its checksum, prove its messages.
    let text = try loss(bytes, frames: [6, 6])
    #expect(text.contains("a chunk claims 18446744073709551615 bytes"))
    #expect(text.contains("reading continues with the chunk at byte \(starts[2])"))
    // With another checksum the chunk is skipped.
    bytes[starts[1] + 200] ^= 1
    let other = try BagDamageTests().loss(bytes, frames: [5, 5])
    #expect(other.contains("15 of 18 messages could be read"))
  }

  private func file(_ chunk: [UInt8]) -> [UInt8] { MCAPRecord.magic + chunk }

  /// A file up to the end of its last chunk.
  private func head() throws -> [UInt8] {
    Array(try bag.mcap(chunk: 3, hasSummary: false).dropLast(8 + 29 + 13))
  }

  @Test func `chunks that lie about their size are refused before memory is taken`() throws {
    let sizes: [UInt64] = [UInt64.max, 1 << 40, 1 << 30 + 1, 256 << 20 + 1]
    for bytes in sizes {
      let chunk = try SampleBag.chunk([1, 2, 3], .zstd, bytes: bytes)
      #expect(try failure(file(chunk))?.code == "bag.image.none")
    }
    let large = try loss(
      try head() + SampleBag.chunk([1, 2, 3], .zstd, bytes: 1 << 40), frames: [6, 6])
    #expect(large.contains("a chunk has 1099511627776 bytes; at most 268435456 are read"))
    #expect(MCAPWalk.chunkBytesMax(stored: 1 << 20) == 1_000 << 20)
    #expect(MCAPWalk.chunkBytesMax(stored: .max) == 1 << 30)
    let short = try BagDamageTests().loss(
      try head() + SampleBag.chunk([1, 2, 3], .lz4, bytes: 4), frames: [6, 6])
    #expect(short.contains("a chunk cannot be decompressed"))
  }

  @Test func `a chunk inside of a chunk is left out, and named`() throws {
    let inner = try SampleBag.chunk([])
    let head = try head()
    let text = try loss(head + SampleBag.chunk(inner), frames: [6, 6])
    #expect(text.contains("byte \(head.count): a chunk has a chunk inside"))
  }

  @Test func `an unknown compression and an undefined channel are named`() throws {
    let head = try head()
    var other = try SampleBag.chunk([1], .zstd)
    let name = try #require(other.firstRange(of: Array("zstd".utf8)))
    other.replaceSubrange(name, with: Array("gzip".utf8))
    #expect(try loss(head + other, frames: [6, 6]).contains("'gzip' is not bz2, lz4 or zstd"))
    let message = SampleBag.record(
      5, SampleBag.number(UInt16(9)) + [UInt8](repeating: 0, count: 20))
    let text = try BagDamageTests().loss(head + message, frames: [6, 6])
    #expect(text.contains("a message has the channel 9, which is not defined"))
  }

  @Test func `the checksum of the data counts for messages outside of chunks`() throws {
    var bytes = try bag.mcap(chunk: nil, hasSummary: false)
    let end = bytes.count - 8 - 29 - 13
    let crc = CRC32.of(bytes[..<end])
    bytes.replaceSubrange(end + 9..<end + 13, with: SampleBag.number(crc))
    #expect(try importing(try write(bytes)).status == .clean)
    // In the pixels of the last image.
    bytes[end - 60] ^= 1
    let text = try BagDamageTests().loss(bytes, frames: [6, 6])
    #expect(text.contains("the checksum of the data is"))
  }

  @Test func `a length in a message that is longer than the message is named with its place`()
    throws
  {
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    var bytes = SampleBag.image(1, "mono8", SampleBag.pixels(1, 48), step: 8)
    let length = bytes.count - 48 - 4
    bytes.replaceSubrange(length..<length + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
    bag.add(0, bytes, at: 1)
    let found = try failure(try bag.mcap())
    #expect(found?.code == "bag.image.none")
    #expect(
      found?.text.contains(
        "topic /cam, message 0: at byte \(length + 4) of the message: a sequence claims 4294967295")
        == true, "\(found?.text ?? "")")
  }

  @Test func `sizes that overflow are refused`() throws {
    let sizes: [(Int, Int, Int)] = [
      (1 << 31, 1 << 31, 1), (0, 6, 8), (8, 6, 0), (1 << 20, 1 << 20, 1 << 31),
    ]
    for (width, height, step) in sizes {
      var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
      bag.add(
        0, SampleBag.image(1, "mono8", [1, 2], width: width, height: height, step: step), at: 1)
      #expect(try failure(try bag.mcap())?.code == "bag.image.none")
    }
  }

  @Test func `an SQLite bag with values of other kinds is read around them`() throws {
    let path = folder.file("a.db3").path
    try bag.writeSQLite(path) { database in
      try database.execute(
        sql: """
          UPDATE messages SET data = 'text' WHERE id = 1;
          UPDATE messages SET timestamp = 'now' WHERE id = 2;
          UPDATE messages SET topic_id = 77 WHERE id = 4;
          """)
    }
    let result = try importing(path)
    #expect(result.tracks.map(\.frames) == [5, 4])
    #expect(result.losses.count == 3)
    #expect(
      result.losses[0] == "a.db3, message 1, topic /cam/mono: its data is not a BLOB"
        || result.losses[0].contains("its data is not a BLOB"))
  }

  // MARK: Mutations

  @Test(arguments: [
    "db3", "mcap", "mcap-lz4", "mcap-zstd", "mcap-flat", "ros1-lz4.bag", "ros1-bz2.bag",
  ])
  func `a mutated bag gives frames or a typed error with its place, and leaves nothing half`(
    form: String
  ) throws {
    var generator = SeededGenerator(seed: 2_026)
    let whole = try Self.bytes(of: bag, form, folder)
    let known = Set((0..<6).map { SampleBag.pixels($0, 48) })
    var (imported, refused) = (0, 0)
    for round in 0..<80 {
      let bytes = Self.mutated(whole, &generator)
      let path = try write(bytes, to: "m." + (form == "db3" ? "db3" : "mcap"))
      do {
        let result = try importing(path, name: "m\(round)")
        imported += 1
        #expect(result.status == .lossy || result.losses.isEmpty)
        let reader = try SessionReader(opening: result.folder.path)
        // If the bag has checksums, a mutation does not reach the pixels.
        guard form.hasSuffix("4") || form.hasSuffix("d"), form != "db3" else { continue }
        for track in result.tracks where track.topic == "/cam/mono" {
          for number in 0..<track.frames {
            let id = FrameID(track: track.track, sequence: number)
            guard let frame = try? reader.frame(id), frame.format == .gray else { continue }
            #expect(known.contains(frame.bytes(of: 0)), "\(form) round \(round)")
          }
        }
      } catch let error as any CodedError {
        refused += 1
        #expect(error.code.hasPrefix("bag.") || error.code.hasPrefix("session."), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: into + "/m\(round)"))
      }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: into)) ?? []
      #expect(!names.contains { $0.hasPrefix(".") }, "round \(round)")
    }
    #expect(imported + refused == 80)
    #expect(imported > 0)
  }

  private static func bytes(
    of bag: SampleBag, _ form: String, _ folder: TemporaryFolder
  ) throws -> [UInt8] {
    switch form {
    case "db3":
      let path = folder.file("whole.db3").path
      try bag.writeSQLite(path)
      return [UInt8](try Data(contentsOf: folder.file("whole.db3")))
    case "ros1-lz4.bag", "ros1-bz2.bag":
      return [UInt8](
        try Data(
          contentsOf: packageRoot.appending(path: "Tests/RetakeBagsTests/Fixtures/\(form)")))
    case "mcap-lz4": return try bag.mcap(packing: .lz4)
    case "mcap-zstd": return try bag.mcap(packing: .zstd)
    case "mcap-flat": return try bag.mcap(chunk: nil)
    default: return try bag.mcap()
    }
  }

  /// One to four changes: a bit, a run of bytes, a number as large as can be, a cut, a copy.
  private static func mutated(
    _ whole: [UInt8], _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = whole
    for _ in 0..<generator.pick(1...4) where bytes.count > 64 {
      let place = generator.pick(0...bytes.count - 33)
      switch generator.pick(0...5) {
      case 0: bytes[place] ^= UInt8(1 << generator.pick(0...7))
      case 1:
        for offset in 0..<generator.pick(1...32) {
          bytes[place + offset] = UInt8(truncatingIfNeeded: generator.next())
        }
      case 2: for offset in 0..<8 { bytes[place + offset] = 0xFF }
      case 3: for offset in 0..<8 { bytes[place + offset] = offset == 7 ? 0x7F : 0 }
      case 4: bytes.removeLast(bytes.count - place)
      default:
        let part = Array(bytes[place..<place + 32])
        bytes.insert(contentsOf: part, at: generator.pick(0...bytes.count - 1))
      }
    }
    return bytes
  }
}

/// Where records are, found without Retake's reader.
enum MCAPBagTests {
  static func chunkStarts(_ bytes: [UInt8]) throws -> [Int] {
    var (starts, place) = ([Int](), 8)
    while place + 9 <= bytes.count {
      let length = bytes[place + 1..<place + 9].reversed().reduce(0) { $0 << 8 | Int($1) }
      if bytes[place] == 6 { starts.append(place) }
      if bytes[place] == 15 { break }
      place += 9 + length
    }
    return starts
  }
}
