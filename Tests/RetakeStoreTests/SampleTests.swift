import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeStore

/// Sensors and their samples in the database.
struct SampleTests {
  /// A closed database with a gyroscope of 10,000 samples and a thermometer of three.
  private func written(version: Int64 = Schema.version) throws -> (TemporaryFolder, String) {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    let writer = try StoreWriter(creating: path, durability: .building, version: version)
    Sample().append(to: writer)
    if version >= Schema.firstVersionWithSensors {
      let samples = SampleWriter(writer)
      let gyroscope = try samples.add(
        name: "gyroscope", kind: "gyroscope", unit: "rad/s", channels: ["x", "y", "z"],
        source: "imu.csv")
      let heat = try samples.add(
        name: "heat", kind: "temperature", unit: "°C", channels: ["t"], source: "imu.csv")
      for number in 0..<10_000 {
        let time = Int64(number) * 5_000_000
        try samples.append(
          gyroscope, time: time, arrival: time + 1_000, [Double(number), .nan, -0.5])
      }
      for number: Int64 in 0..<3 {
        try samples.append(heat, time: number / 2, [20 + Double(number)])
      }
      try samples.finish()
      #expect(samples.tracks.map(\.sampleCount) == [10_000, 3])
    }
    try writer.close()
    return (folder, path)
  }

  @Test func `samples come back as they were written`() throws {
    let (folder, path) = try written()
    let reader = try StoreReader(opening: path)
    let sensors = try reader.sensors()
    #expect(sensors.map(\.name) == ["gyroscope", "heat"])
    #expect(sensors[0].channels == ["x", "y", "z"] && sensors[1].unit == "°C")
    let page = try reader.samples(sensor: 0, from: 9_998, count: 10)
    #expect(page.map(\.index) == [9_998, 9_999])
    #expect(page[1].timeNanoseconds == 49_995_000_000)
    #expect(page[1].arrivalNanoseconds == 49_995_001_000)
    #expect(page[1].numbers[0] == 9_999 && page[1].numbers[1].isNaN && page[1].numbers[2] == -0.5)
    #expect(try reader.sampleEnd(sensor: 0) == 10_000)
    #expect(try reader.sampleEnd(sensor: 7) == 0)
    #expect(try reader.checkContent().isEmpty && reader.checkSamples().isEmpty)
    try reader.requireWhole()
    withExtendedLifetime(folder) {}
  }

  @Test func `a time finds the number of samples up to it`() throws {
    let (folder, path) = try written()
    let reader = try StoreReader(opening: path)
    for (time, count): (Int64, Int) in [
      (-1, 0), (0, 1), (4_999_999, 1), (5_000_000, 2), (49_995_000_000, 10_000), (.max, 10_000),
    ] {
      #expect(try reader.samples(sensor: 0, upTo: time, end: 10_000) == count)
    }
    // Two of three were measured at the same time.
    #expect(try reader.samples(sensor: 1, upTo: 0, end: 3) == 2)
    withExtendedLifetime(folder) {}
  }

  @Test func `samples are part of the digest, and a session without any keeps its digest`() throws {
    let (folder, path) = try written()
    let (other, bare) = try written(version: 3)
    let (same, alike) = try written()
    let digest = try StoreReader(opening: path).digest()
    #expect(try StoreReader(opening: alike).digest() == digest)
    let old = try StoreReader(opening: bare).digest()
    #expect(old != digest)

    let current = other.file("current.sqlite").path
    try StoreMigration.copy(try StoreReader(opening: bare), to: current)
    let migrated = try StoreReader(opening: current)
    #expect(migrated.schemaVersion == 4)
    #expect(try migrated.digest() == old && migrated.sensors().isEmpty)
    withExtendedLifetime((folder, other, same)) {}
  }

  @Test func `a database of schema 3 opens, and has no sensors`() throws {
    let (folder, path) = try written(version: 3)
    let reader = try StoreReader(opening: path)
    #expect(reader.schemaVersion == 3)
    #expect(try reader.sensors().isEmpty && reader.checkSamples().isEmpty)
    #expect(try reader.checkContent().isEmpty)
    withExtendedLifetime(folder) {}
  }

  @Test func `a migrated copy has the samples`() throws {
    let (folder, path) = try written()
    let copy = folder.file("copy.sqlite").path
    let reader = try StoreReader(opening: path)
    try StoreMigration.copy(reader, to: copy)
    #expect(try StoreReader(opening: copy).digest() == reader.digest())
  }

  /// Sensors and samples that the writer refuses, by the code of its error.
  @Test func `what a reader could not use is refused before it is written`() throws {
    let folder = try TemporaryFolder()
    let writer = try StoreWriter(
      creating: folder.file("session.sqlite").path, durability: .building)
    let samples = SampleWriter(writer)
    func add(_ name: String, channels: [String] = ["x"], unit: String = "") -> String? {
      code { try samples.add(name: name, kind: "k", unit: unit, channels: channels, source: "s") }
    }
    #expect(add("imu") == nil)
    #expect(add("imu") == "sensor.name.taken")
    #expect(samples.freeName("imu") == "imu-2")
    for name in ["", "a b", "ü", String(repeating: "a", count: 65)] {
      #expect(add(name) == "sensor.name.bad")
    }
    #expect(add("none", channels: []) == "sensor.channels")
    #expect(add("many", channels: (0..<65).map { "\($0)" }) == "sensor.channels")
    #expect(add("red", unit: "\u{1B}[31m") == "sensor.text")

    func append(_ time: Int64, arrival: Int64? = nil, _ values: [Double] = [1]) -> String? {
      code { try samples.append(0, time: time, arrival: arrival, values) }
    }
    #expect(append(10) == nil)
    #expect(append(10) == nil)
    #expect(append(9) == "sensor.time.backwards")
    #expect(append(11, arrival: 9) == "sensor.time.backwards")
    #expect(append(12, [1, 2]) == "sensor.values")
    #expect(append(.max) == "sensor.time.range")
    #expect(append(.min) == "sensor.time.range")
    try samples.finish()
    try writer.close()
    let reader = try StoreReader(opening: folder.file("session.sqlite").path)
    #expect(try reader.sampleEnd(sensor: 0) == 2)
  }

  @Test func `samples of a damaged table are found, and the others are saved`() throws {
    let (folder, path) = try written()
    try sqlite(path, "UPDATE sample SET time_ns = 7 WHERE sensor = 0 AND \"index\" = 500")
    let reader = try StoreReader(opening: path)
    #expect(throws: StoreError.self) { try reader.requireWhole() }
    #expect(
      try reader.checkSamples().map(\.text) == [
        "sample 500 of the sensor gyroscope is earlier than the previous sample"
      ])
    let salvage = reader.salvage()
    #expect(salvage.samples.count == 10_002)

    let saved = folder.file("saved.sqlite").path
    let writer = try StoreWriter(creating: saved, durability: .building)
    let samples = SampleWriter(writer)
    let added = try samples.append(salvaged: salvage.sensors, salvage.samples)
    #expect(added == (2, 10_002))
    try writer.close()
    let again = try StoreReader(opening: saved)
    #expect(samples.tracks.map(\.sampleCount) == [9_999, 3])
    try again.requireWhole()
    #expect(try again.checkSamples().isEmpty)
  }
}
