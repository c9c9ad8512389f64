import Foundation
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Topics with numbers, which become sensors.
@Suite struct BagSensorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func importing(
    _ bag: SampleBag, topics: [String] = [], name: String = "run", isSQLite: Bool = false
  ) throws -> (BagImportResult, SessionReader) {
    let path = folder.file(name + (isSQLite ? ".db3" : ".mcap")).path
    if isSQLite {
      try bag.writeSQLite(path)
    } else {
      try Data(try bag.mcap()).write(to: URL(fileURLWithPath: path))
    }
    let result = try BagImporter(
      BagImportOptions(
        path: path, name: name, into: folder.file("Recordings").path, topics: topics)
    ).run()
    return (result, try SessionReader(opening: result.folder.path))
  }

  /// A bag with one camera, whose first image is time zero.
  private func camera() -> SampleBag {
    var bag = SampleBag(topics: [.init(name: "/cam", type: "sensor_msgs/msg/Image")])
    for number in 0..<3 {
      let stamp = SampleBag.base + Int64(number) * 33_333_333
      bag.add(
        0, SampleBag.image(stamp, "mono8", SampleBag.pixels(number, 48), step: 8), at: stamp)
    }
    return bag
  }

  private struct Row: Hashable {
    var time: Int64
    var arrival: Int64
    var values: [Double]
  }

  private func rows(_ reader: SessionReader, _ name: String) throws -> [Row] {
    let sensor = try #require(reader.sensors.first { $0.name == name }, "\(reader.sensors)")
    return try reader.index.store.samples(sensor: sensor.number, from: 0, count: 1_000).map {
      Row(time: $0.timeNanoseconds, arrival: $0.arrivalNanoseconds, values: $0.numbers)
    }
  }

  /// Two messages of an Imu, in either order of bytes and version of CDR.
  private static func imu(_ stamp: Int64, _ start: Double, _ form: SampleCDR.Form) -> [UInt8] {
    var writer = SampleCDR(form)
    writer.header(stamp, "imu_link")
    for number in 0..<37 { writer.double(start + Double(number)) }
    return writer.bytes
  }

  @Test(arguments: SampleCDR.Form.allCases, [true, false])
  func `an Imu becomes a sensor for each quantity, by the stamps of its headers`(
    form: SampleCDR.Form, isSQLite: Bool
  ) throws {
    var bag = camera()
    bag.topics.append(.init(name: "/imu/data", type: "sensor_msgs/msg/Imu"))
    for number in 0..<2 {
      let stamp = SampleBag.base + Int64(number) * 5_000_000 - 1_000_000
      bag.add(1, Self.imu(stamp, Double(100 * number), form), at: stamp + 700_000)
    }
    let (result, reader) = try importing(bag, isSQLite: isSQLite)
    #expect(result.status == .clean, "\(result.losses)")
    #expect(
      result.sensors == [
        .init(
          sensors: [
            "imu/data/orientation", "imu/data/variance", "imu/data/angular_velocity",
            "imu/data/linear_acceleration",
          ], topic: "/imu/data", type: "sensor_msgs/msg/Imu", samples: 2, damaged: 0)
      ])
    let gyroscope = try #require(reader.sensors.first { $0.kind == "gyroscope" })
    #expect(gyroscope.channels == ["x", "y", "z"] && gyroscope.unit == "rad/s")
    #expect(gyroscope.source == "/imu/data")
    // The quaternion and its covariance have 13 numbers.
    #expect(
      try rows(reader, "imu/data/angular_velocity") == [
        Row(time: -1_000_000, arrival: -300_000, values: [13, 14, 15]),
        Row(time: 4_000_000, arrival: 4_700_000, values: [113, 114, 115]),
      ])
    #expect(try rows(reader, "imu/data/orientation").map(\.values.count) == [4, 4])
    #expect(try rows(reader, "imu/data/variance").first?.values.last == 36)
    let doctor = try SessionCheck(path: result.folder.path).run()
    #expect(doctor.isHealthy)
    #expect(try reader.index.store.checkSamples().isEmpty)
  }

  @Test func `samples are exported at their arrivals, with the times of their measurement`() throws
  {
    var bag = camera()
    bag.topics.append(.init(name: "/imu/data", type: "sensor_msgs/msg/Imu"))
    for number in 0..<2 {
      let stamp = SampleBag.base + Int64(number) * 5_000_000
      bag.add(1, Self.imu(stamp, Double(100 * number), .little), at: stamp + 700_000)
    }
    let session = try importing(bag).0.folder.path
    let file = folder.file("out.mcap").path
    let topics = try BagExporter(of: session).run(to: file)
    let sensors = topics.filter { $0.topic.hasPrefix("/sensors/imu/data/") }
    #expect(sensors.map(\.messages) == [2, 2, 2, 2])
    #expect(Set(sensors.map(\.type)) == ["retake.Sample"])
    let exported = try MCAPBag(file, origin: file)
    var samples: [(time: Int64, text: String)] = []
    try exported.read(position: { _ in }) { item in
      guard case .message(let message) = item,
        exported.topics[message.topic].name == "/sensors/imu/data/angular_velocity"
      else { return }
      samples.append((message.logNanoseconds, String(decoding: message.bytes, as: UTF8.self)))
    }
    #expect(samples.map(\.time) == [SampleBag.base + 700_000, SampleBag.base + 5_700_000])
    #expect(
      samples.last?.text == """
        {"kind":"gyroscope","timestamp":{"nsec":5000000,"sec":1700000000},"unit":"rad/s",\
        "values":{"x":113,"y":114,"z":115}}
        """)
  }

  /// The definition of a custom type, followed by the types that it uses.
  private static let schema = """
    # A comment.
    std_msgs/Header header
    uint8 OFF=0
    string MODE = "a#b"
    bool active
    int16[2] counts 3
    geometry_msgs/msg/Vector3 force   # in N
    Wheel[2] wheels
    uint8[<=3] flags
    string<=8 label "none"
    int64 ticks
    ================================================================================
    MSG: geometry_msgs/Vector3
    float64 x
    float64 y
    float64 z
    ================================================================================
    MSG: robot/Wheel
    float32 speed
    string name
    """

  @Test(arguments: SampleCDR.Form.allCases)
  func `a type of one's own is read by its definition`(form: SampleCDR.Form) throws {
    var bag = camera()
    bag.topics.append(.init(name: "/base state", type: "robot/msg/State", schema: Self.schema))
    var writer = SampleCDR(form)
    writer.header(SampleBag.base + 10, "base")
    writer.integer(UInt8(1))
    writer.integer(Int16(-3))
    writer.integer(Int16(4))
    for value in [0.5, -1.5, 2.5] { writer.double(value) }
    // Bytes of the structures, which the second version alone has.
    if form.isSecondVersion { writer.integer(UInt32(99)) }
    writer.integer(Float(1.25).bitPattern)
    writer.string("left")
    writer.integer(Float(-2).bitPattern)
    writer.string("right wheel")
    writer.integer(UInt32(2))
    writer.integer(UInt8(7))
    writer.integer(UInt8(8))
    writer.string("ok")
    writer.integer(Int64(1) << 53 + 1)
    bag.add(1, writer.bytes, at: SampleBag.base + 50)
    let (result, reader) = try importing(bag)
    #expect(result.status == .clean, "\(result.losses) \(result.leftOut)")
    let sensor = try #require(reader.sensors.first)
    #expect(sensor.name == "base-state" && sensor.kind == "state")
    #expect(
      sensor.channels == [
        "active", "counts.0", "counts.1", "force.x", "force.y", "force.z", "wheels.0.speed",
        "wheels.1.speed", "flags.0", "flags.1", "flags.2", "ticks",
      ])
    let row = try #require(try rows(reader, "base-state").first)
    #expect(row.time == 10 && row.arrival == 50)
    #expect(row.values.prefix(10) == [1, -3, 4, 0.5, -1.5, 2.5, 1.25, -2, 7, 8])
    #expect(row.values[10].isNaN && row.values[11] == 9_007_199_254_740_992)
    #expect(
      result.notes == [
        "/base state: 1 integer of 64 bits is rounded to 53 bits, as samples have them"
      ])
  }

  @Test func `numbers without a header have the time of their recording`() throws {
    var bag = camera()
    bag.topics += [
      .init(name: "/speed", type: "std_msgs/msg/Float32"),
      .init(name: "/gear", type: "std_msgs/msg/Int8"),
    ]
    for number in 0..<3 {
      var (speed, gear) = (SampleCDR(.little), SampleCDR(.big))
      speed.integer(Float(number).bitPattern)
      gear.integer(Int8(-number))
      bag.add(1, speed.bytes, at: SampleBag.base + Int64(number) * 1_000)
      bag.add(2, gear.bytes, at: SampleBag.base + Int64(number) * 1_000)
    }
    let (_, reader) = try importing(bag)
    let expected = (0..<3).map {
      Row(time: Int64($0) * 1_000, arrival: Int64($0) * 1_000, values: [Double($0)])
    }
    #expect(try rows(reader, "speed") == expected)
    #expect(try rows(reader, "gear").map(\.values) == [[0], [-1], [-2]])
  }

  @Test func `a Range of either age is read without a definition`() throws {
    for (name, count) in [("old", 4), ("new", 5)] {
      var bag = camera()
      bag.topics.append(.init(name: "/sonar", type: "sensor_msgs/msg/Range"))
      var writer = SampleCDR(.little)
      writer.header(SampleBag.base, "sonar")
      writer.integer(UInt8(1))
      for value in 0..<count { writer.integer(Float(value).bitPattern) }
      bag.add(1, writer.bytes, at: SampleBag.base)
      let (result, reader) = try importing(bag, name: name)
      #expect(result.status == .clean, "\(result.losses)")
      #expect(try rows(reader, "sonar").map(\.values) == [[1, 0, 1, 2, 3]])
      #expect(reader.sensors.map(\.name) == (count == 5 ? ["sonar", "sonar/variance"] : ["sonar"]))
    }
  }

  @Test func `topics that no sensor can have are left out with the reason`() throws {
    var bag = camera()
    let many = (0..<65).map { "float32 v\($0)" }.joined(separator: "\n")
    let cases: [(type: String, encoding: String, schema: String, reason: String)] = [
      ("sensor_msgs/msg/LaserScan", "cdr", "", "any number of elements in its field 'ranges'"),
      ("std_msgs/msg/String", "cdr", "", "no number"),
      ("robot/msg/Own", "cdr", "", "the bag does not define it"),
      ("robot/msg/Many", "cdr", many, "65 numbers; a sensor has at most 64"),
      ("robot/msg/Odd", "cdr", "wstring x", "its definition has the line 'wstring x'"),
      ("robot/msg/Deep", "cdr", "Deep next", "more than 16 types inside one another"),
      ("robot/msg/Part", "cdr", "Other x", "uses robot/Other, which the bag does not define"),
      ("robot/msg/Big", "cdr", "float32[99999999999] x", "more than 256 numbers"),
      ("robot/msg/Zero", "cdr", "float32[0] x", "its definition has the line 'float32[0] x'"),
      (
        "std_msgs/msg/Float32", "json", "", "its messages are written as 'json', not as cdr or ros1"
      ),
    ]
    for (number, item) in cases.enumerated() {
      bag.topics.append(
        .init(
          name: "/t\(number)", type: item.type, encoding: item.encoding, schema: item.schema))
      bag.add(number + 1, [0, 1, 0, 0, 0, 0, 0, 0], at: SampleBag.base)
    }
    let (result, reader) = try importing(bag)
    #expect(result.status == .clean && reader.sensors.isEmpty)
    #expect(
      result.leftOut.map(\.reason) == cases.map { "\($0.type) has no image, and \($0.reason)" })
  }

  @Test func `an Odometry without room for its covariances keeps its numbers`() throws {
    var bag = camera()
    bag.topics.append(.init(name: "/odom", type: "nav_msgs/msg/Odometry"))
    var writer = SampleCDR(.little)
    writer.header(SampleBag.base, "odom")
    writer.string("base")
    for number in 0..<85 { writer.double(Double(number)) }
    bag.add(1, writer.bytes, at: SampleBag.base)
    let (result, reader) = try importing(bag)
    #expect(reader.sensors.map(\.channels.count) == [13])
    // The pose's covariance is between the two.
    #expect(
      try rows(reader, "odom").first?.values == [0, 1, 2, 3, 4, 5, 6, 43, 44, 45, 46, 47, 48])
    #expect(result.notes.first?.contains("72 variances are left out") == true)
  }

  @Test func `--topic selects sensors, and a topic that is damaged is an error then`() throws {
    var bag = camera()
    bag.topics += [
      .init(name: "/speed", type: "std_msgs/msg/Float32"),
      .init(name: "/other", type: "std_msgs/msg/Float64"),
    ]
    bag.add(1, [0, 1, 0, 0, 0, 0, 0x80, 0x3F], at: SampleBag.base)
    bag.add(2, [0, 1, 0, 0, 0, 0, 0x80, 0x3F], at: SampleBag.base)
    let (result, reader) = try importing(bag, topics: ["/speed", "/cam"])
    #expect(reader.sensors.map(\.name) == ["speed"])
    #expect(result.leftOut.map(\.reason) == ["it was not selected"])
    #expect {
      try importing(bag, topics: ["/cam", "/other"], name: "damaged")
    } throws: {
      ($0 as? BagError)?.code == "bag.message" && "\($0)".contains("topic /other, message 0")
    }
    #expect {
      try importing(bag, topics: ["/speed"], name: "none")
    } throws: { ($0 as? BagError)?.code == "bag.image.none" }
  }

  @Test func `messages that are damaged or measured earlier are losses with their place`() throws {
    var bag = camera()
    bag.topics.append(.init(name: "/wind", type: "geometry_msgs/msg/Vector3Stamped"))
    func message(_ stamp: Int64) -> [UInt8] {
      var writer = SampleCDR(.little)
      writer.header(stamp, "")
      for value in 1...3 { writer.double(Double(value)) }
      return writer.bytes
    }
    let base = SampleBag.base
    bag.add(1, message(base + 5_000), at: base + 6_000)
    bag.add(1, message(base + 3_000), at: base + 7_000)
    bag.add(1, Array(message(base + 6_000).dropLast(9)), at: base + 8_000)
    bag.add(1, message(base + 6_000) + [0, 0, 0, 0], at: base + 8_000)
    bag.add(1, message(base / 1_000_000_000), at: base + 9_000)
    bag.add(1, message(base + 9_000), at: base + 2_000)
    let (result, reader) = try importing(bag)
    #expect(result.status == .lossy)
    #expect(result.sensors.map(\.damaged) == [4])
    let loss = try #require(result.losses.first)
    #expect(loss.hasPrefix("/wind: 4 messages are not samples; run.mcap, byte "))
    #expect(
      loss.hasSuffix("message 1: its time is 0.002 ms earlier than that of the message before"))
    #expect(
      result.notes == [
        "/wind: 1 message has an earlier time than its predecessor; it arrives with the "
          + "predecessor"
      ])
    #expect(
      try rows(reader, "wind") == [
        Row(time: 5_000, arrival: 6_000, values: [1, 2, 3]),
        Row(time: 9_000, arrival: 6_000, values: [1, 2, 3]),
      ])
    #expect(try reader.info().sensors?.map(\.samples) == [2])
  }

  @Test func `names of topics become names of sensors, and differ`() {
    #expect(BagSensor.name("/imu/data", "variance") == "imu/data/variance")
    #expect(BagSensor.name("//a b:ü", "") == "a-b---")
    #expect(BagSensor.name("/", "") == "topic")
    let long = BagSensor.name("/" + String(repeating: "x", count: 90) + "/end", "variance")
    #expect(long.utf8.count == 60 && long.hasSuffix("x/end/variance"))
  }
}

/// Writes messages in CDR in any order of bytes and version, apart from the writer of exports.
struct SampleCDR {
  enum Form: UInt8, CaseIterable, Sendable {
    case big = 0
    case little, bigSecond = 6, littleSecond

    var isSecondVersion: Bool { rawValue >= 6 }
    var isLittle: Bool { rawValue & 1 == 1 }
  }

  private let form: Form
  private(set) var bytes: [UInt8]

  init(_ form: Form) { (self.form, bytes) = (form, [0, form.rawValue, 0, 0]) }

  mutating func integer<Number: FixedWidthInteger>(_ value: Number) {
    let size = Number.bitWidth / 8
    while (bytes.count - 4) % min(size, form.isSecondVersion ? 4 : 8) != 0 { bytes.append(0xEE) }
    let little = (0..<size).map { UInt8(truncatingIfNeeded: value >> Number(8 * $0)) }
    bytes += form.isLittle ? little : little.reversed()
  }

  mutating func double(_ value: Double) { integer(value.bitPattern) }

  mutating func string(_ text: String) {
    integer(UInt32(text.utf8.count + 1))
    bytes += Array(text.utf8) + [0]
  }

  mutating func header(_ stamp: Int64, _ frame: String) {
    integer(Int32(stamp / 1_000_000_000))
    integer(UInt32(stamp % 1_000_000_000))
    string(frame)
  }
}
