import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeGolden

/// Files of images among observations.
@Suite struct KeptImageTests {
  private static let frame = FrameID(track: 0, sequence: 7)
  private static let name = GoldenFolder.imageName(
    frame, sink: "each/depth", index: 1, isPicture: false)

  private func kept(_ folder: TemporaryFolder) -> StoredImages.Kept {
    GoldenFolder(folder.url).image(
      StoredImages.Place(frame: Self.frame, sink: "each/depth", index: 1)
    ) { _ in nil }
  }

  /// A run whose sink receives a line and a map, with the map's file.
  private func write(to folder: GoldenFolder, line: Double, meters: Float) throws {
    let map = try #require(PixelArray(width: 2, height: 1, [meters, 8]))
    let lane = Polyline([[0, line], [9, line]])
    let facts = [
      Observation(.polyline(lane), label: "lane"), Observation(.image(map), label: "depth"),
    ]
    var run = SampleRun(frames: 1)
    // A node of the sample pipeline, and no name of a mode.
    run.sinks = [.init("motion")]
    run.manifest.precision = [:]
    run.manifest.compare = try CompareRules(
      StrictDecoder<GoldenError>(yaml: "{boxes: {position: 2}, pictures: {scalar: 0.5}}"))
    run.frames[0].outcomes = [
      SinkOutcome(sink: "motion", content: .facts(facts.map(ResultFact.observation)))
    ]
    try run.write(to: folder)
    let name = GoldenFolder.imageName(
      run.frames[0].id, sink: "motion", index: 0, isPicture: false)
    try Data(try #require(map.npy)).write(to: folder.file(name))
  }

  @Test(arguments: [
    (1.0, 0.25, []), (3, 0.25, [Finding.Kind.pointMoved]), (1, 0.75, [.pictureChanged]),
    (3, 0.75, [.pointMoved, .pictureChanged]),
  ])
  func `a line and a map of one sink are each judged by the rule of their kind`(
    line: Double, meters: Float, kinds: [Finding.Kind]
  ) throws {
    let folders = try SampleFolders()
    try write(to: folders.golden, line: 0, meters: 0)
    try write(to: folders.run, line: line, meters: meters)
    let rule = try folders.golden.manifest().compare.rule(for: "motion")
    #expect(rule.mode == .boxes && rule.limitsImages && rule.position == 2 && rule.scalar == 0.5)
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.pixels = { _ in nil }
    let comparison = try GoldenComparator(
      golden: folders.golden, actual: folders.run, options: options
    ).compare()
    #expect(comparison.findings.map(\.kind) == kinds)
    #expect(comparison.verdict == (kinds.isEmpty ? .passed : .changed))
  }

  @Test func `an interrupted comparison has no verdict`() throws {
    struct Ended: Error {}
    let folders = try SampleFolders()
    try write(to: folders.golden, line: 0, meters: 0)
    try write(to: folders.run, line: 1, meters: 0)
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.checkInterruption = { throw Ended() }
    let comparator = GoldenComparator(
      golden: folders.golden, actual: folders.run, options: options)
    #expect(throws: Ended.self) { try comparator.compare() }
    #expect(comparator.outcome().verdict == .errored)
  }

  @Test func `a file that is no image is not the same as no file`() throws {
    let folder = try TemporaryFolder()
    #expect(Self.name == "image-0-000007-each-depth-1.npy")
    guard case .absent = kept(folder) else {
      Issue.record("there is no file")
      return
    }
    let array = try #require(PixelArray(width: 2, height: 1, [1, 2]))
    let file = folder.file(Self.name)
    try Data(try #require(array.npy)).write(to: file)
    guard case .array(let read) = kept(folder) else {
      Issue.record("there is a file")
      return
    }
    #expect(read == array)
    try Data([1, 2, 3]).write(to: file)
    guard case .unreadable = kept(folder) else {
      Issue.record("the file is no image")
      return
    }
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(
      atPath: file.path, withDestinationPath: folder.file("missing").path)
    guard case .unreadable = kept(folder) else {
      Issue.record("the link leads nowhere")
      return
    }
  }
}
