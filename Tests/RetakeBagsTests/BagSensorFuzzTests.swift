import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Bags and definitions that are almost right: samples, losses, or typed errors, and never a crash.
/// RETAKE_FUZZ_ROUNDS sets other numbers of rounds.
@Suite struct BagSensorFuzzTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["RETAKE_FUZZ_ROUNDS"].flatMap { Int($0) }

  private let folder: TemporaryFolder
  private let into: String

  init() throws {
    folder = try TemporaryFolder()
    into = folder.file("Recordings").path
  }

  private static let schema = """
    std_msgs/Header header
    Wheel[2] wheels
    uint8[<=3] flags
    string label
    int64 ticks
    ===
    MSG: robot/Wheel
    float32 speed
    string name
    """

  /// A camera, an Imu, and a type of one's own.
  private static func bag() -> SampleBag {
    var bag = SampleBag.cameras(frames: 4)
    bag.topics += [
      .init(name: "/imu", type: "sensor_msgs/msg/Imu"),
      .init(name: "/own", type: "robot/msg/State", schema: schema),
    ]
    for number in 0..<4 {
      let stamp = SampleBag.base + Int64(number) * 10_000_000
      var (imu, own) = (SampleCDR(.little), SampleCDR(.big))
      imu.header(stamp, "imu")
      for value in 0..<37 { imu.double(Double(value)) }
      own.header(stamp, "own")
      for name in ["left", "right"] {
        own.integer(Float(number).bitPattern)
        own.string(name)
      }
      own.integer(UInt32(1))
      own.integer(UInt8(7))
      own.string("label")
      own.integer(Int64(number))
      bag.add(3, imu.bytes, at: stamp + 1_000)
      bag.add(4, own.bytes, at: stamp + 2_000)
    }
    return bag
  }

  /// - Returns: whether a session was made.
  private func check(_ bytes: some Collection<UInt8>, name: String, round: Int) throws -> Bool {
    let path = folder.file(name).path
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    do {
      let result = try BagImporter(BagImportOptions(path: path, name: "run", into: into)).run()
      let reader = try SessionReader(opening: result.folder.path)
      #expect(try reader.index.store.checkSamples().isEmpty, "round \(round)")
      let complaints = try reader.index.store.checkContent()
      #expect(complaints.isEmpty, "round \(round): \(complaints)")
      #expect(
        reader.sensors.map(\.name).sorted() == result.sensors.flatMap(\.sensors).sorted(),
        "round \(round)")
      try FileManager.default.removeItem(atPath: result.folder.path)
      return true
    } catch let error as any CodedError {
      let isTyped = ["bag.", "session.", "media.", "store."].contains { error.code.hasPrefix($0) }
      #expect(isTyped, "round \(round): \(error)")
      let left = try? FileManager.default.contentsOfDirectory(atPath: into)
      #expect(left?.isEmpty ?? true, "round \(round): \(left ?? [])")
      return false
    }
  }

  private static func changed(
    _ bytes: [UInt8], _ numbers: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<4, using: &numbers) {
      let place = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
      case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
      case 2:
        bytes.replaceSubrange(place..<min(bytes.count, place + 4), with: [0xFF, 0xFF, 0xFF, 0xFF])
      default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
      }
    }
    return bytes
  }

  @Test func `a bag that is changed in a few places is read as far as it is whole`() throws {
    // Without chunks there is no checksum in front of the messages.
    let whole = try Self.bag().mcap(chunk: nil)
    var numbers = SeededGenerator(seed: 11)
    let rounds = Self.rounds ?? 150
    var made = 0
    for round in 0..<rounds
    where try check(Self.changed(whole, &numbers), name: "a.mcap", round: round) {
      made += 1
    }
    #expect(made > rounds / 4 && made <= rounds, "\(made) of \(rounds)")
  }

  @Test func `a bag that is cut at 100 places is read up to there`() throws {
    let whole = try Self.bag().mcap(chunk: 6)
    var made = 0
    for round in 1...100
    where try check(whole.prefix(whole.count * round / 100), name: "cut.mcap", round: round) {
      made += 1
    }
    #expect(made > 30 && made <= 100, "\(made)")
  }

  @Test func `no definition and no message of a type ends the process`() throws {
    let own = try MessageDefinition.all(in: Self.schema, of: "robot/State")
    let layout = try MessageLayout("robot/State", definitions: own)
    let message = try #require(Self.bag().messages.last?.bytes)
    #expect(try layout.values(of: message[...]).numbers.count == 6)
    var numbers = SeededGenerator(seed: 12)
    var (read, refused) = (0, 0)
    for _ in 0..<(Self.rounds ?? 5_000) {
      let text = String(decoding: Self.changed(Array(Self.schema.utf8), &numbers), as: UTF8.self)
      let bytes = Self.changed(message, &numbers)
      do {
        let found = try MessageDefinition.all(in: text, of: "robot/State")
        let changed = try MessageLayout("robot/State", definitions: found)
        #expect(changed.channels.count <= 256)
        _ = try? changed.values(of: bytes[...])
      } catch let error as DefinitionProblem {
        refused += 1
        #expect(!error.cause.isEmpty)
      }
      do {
        #expect(try layout.values(of: bytes[...]).numbers.count == 6)
        read += 1
      } catch let error as MessageProblem {
        #expect((0...bytes.count).contains(error.offset))
      }
    }
    #expect(read > 0 && refused > 0, "\(read) read, \(refused) refused")
  }
}
