import Foundation
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Bags that the package rosbags wrote: `Tests/Judges/bags.py fixtures`.
@Suite struct FixtureTests {
  private static let fixtures = packageRoot.appending(path: "Tests/RetakeBagsTests/Fixtures")

  private struct Row: Decodable, Hashable {
    var stamp: Int64
    var log: Int64
    var bytes: Data
  }

  private static func truth() throws -> [String: [Row]] {
    let data = try Data(contentsOf: fixtures.appending(path: "truth.json"))
    return try JSONDecoder().decode([String: [Row]].self, from: data)
  }

  @Test(arguments: [
    "plain.db3", "file.db3.zstd", "message.db3", "plain-mcap.mcap", "storage-mcap.mcap",
    "ros1-bz2.bag", "ros1-lz4.bag",
  ])
  func `a bag of rosbags has the frames, stamps, arrivals and bytes that were written`(
    name: String
  ) throws {
    let folder = try TemporaryFolder()
    let result = try BagImporter(
      BagImportOptions(
        path: Self.fixtures.appending(path: name).path, name: "run", into: folder.url.path)
    ).run()
    #expect(result.status == .clean)
    #expect(result.leftOut.isEmpty)
    let reader = try SessionReader(opening: result.folder.path)
    let truth = try Self.truth()
    #expect(result.tracks.map(\.topic) == truth.keys.sorted())
    let origin = try #require(truth["/cam/mono"]?.first?.stamp)
    for track in result.tracks {
      let entries = try reader.entries(of: track.track, sequences: 0..<100)
      let rows = try entries.map { entry in
        Row(
          stamp: entry.timestamp.nanoseconds + origin, log: entry.arrival.nanoseconds + origin,
          bytes: Data(try reader.frame(entry.id).bytes(of: 0)))
      }
      #expect(rows == truth[track.topic], "\(name) \(track.topic)")
    }
    let gyroscope = try #require(reader.sensors.first { $0.kind == "gyroscope" })
    let samples = try reader.index.store.samples(
      sensor: gyroscope.number, from: 0, count: 1_000)
    // Seven messages between two frames, as the judge writes them.
    #expect(samples.count == 28)
    for (place, sample) in samples.enumerated() {
      let (frame, part) = (place / 7, place % 7)
      #expect(sample.timeNanoseconds == Int64(frame) * 33_333_333 + Int64(part) * 4_761_904)
      #expect(sample.arrivalNanoseconds == sample.timeNanoseconds + 100_000)
      #expect(sample.numbers == [Double(frame) * 0.1, Double(part) * 0.2, -1])
    }
  }
}
