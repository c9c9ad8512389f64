import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeGolden

@Suite struct GoldenFilesTests {
  private func lines(_ url: URL) throws -> [String] {
    try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func `decisions are folded as in the example of the format`() throws {
    let folder = try TemporaryFolder("retake-golden")
    let url = folder.file("decisions.gold")
    let writer = try DecisionFileWriter(url, key: "yard/motion-slow", origin: 0)
    var unfolded = ""
    var number = 0
    for sequence in 0..<60 {
      let frame = FrameID(track: 0, sequence: sequence)
      for kind in sequence == 12 || sequence == 16
        ? [DecisionKind.drop] : [.start, .done, .deliver]
      {
        let line = DecisionLine(
          time: Int64(sequence) * 100_000_000 / 3, node: "motion", frame: frame, kind: kind,
          details: kind == .drop ? [.init("reason", "queue")] : [])
        unfolded += "\(line)\n"
        number += 1
        try writer.append(line)
      }
    }
    try writer.finish()
    #expect(
      try lines(url) == [
        "#retake 1 key=yard/motion-slow origin=0",
        "@400000000 motion 0:12 drop reason=queue",
        "@533333333 motion 0:16 drop reason=queue",
        "= 0 f0..f59 n=\(number) \(Digest128(of: unfolded))",
      ])
    #expect(writer.digest == Digest128(of: unfolded) && writer.count == number)
  }

  @Test func `decisions fold by track and 1,024 frames, and those about no frame are listed`()
    throws
  {
    let folder = try TemporaryFolder("retake-golden")
    let url = folder.file("decisions.gold")
    let writer = try DecisionFileWriter(url, key: "a/b", origin: -5)
    for sequence in [0, 1_023, 1_024, 2_000] {
      for track in [1, 0] {
        try writer.append(
          DecisionLine(
            time: Int64(sequence), node: "n", frame: FrameID(track: track, sequence: sequence),
            kind: .start))
      }
    }
    try writer.append(DecisionLine(time: 9, node: "n", kind: .done))
    try writer.finish()
    let text = try lines(url)
    #expect(text.prefix(2) == ["#retake 1 key=a/b origin=-5", "@9 n - done"])
    #expect(
      text.dropFirst(2).map { $0.split(separator: " ").prefix(4).joined(separator: " ") } == [
        "= 0 f0..f1023 n=2", "= 0 f1024..f2000 n=2", "= 1 f0..f1023 n=2",
        "= 1 f1024..f2000 n=2",
      ])
    let reader = try DecisionFileReader(url)
    #expect(reader.origin == -5)
    while let line = try reader.nextLine() { _ = try reader.entry(line) }
  }

  @Test func `stage digests are written as in the example of the format`() throws {
    let folder = try TemporaryFolder("retake-golden")
    let url = folder.file("digests-linux-x86_64-fma.gold")
    let writer = try StageDigestWriter(
      url, key: "yard/motion", columns: SampleRun.columns, writesTrack: false)
    let rows = [
      ["a300714c", "77d0193e", "6e01bb0a", "cb2fa2ae"], ["-", "0c8812aa", "!91c3d2e1", "-"],
    ].enumerated().map { sequence, words in
      let cells = words.compactMap { StageCell(parsing: $0) }
      return StageRow(
        frame: FrameID(track: 3, sequence: sequence), packet: cells[0],
        cells: Array(cells.dropFirst()))
    }
    for row in rows { try writer.append(row) }
    try writer.finish()
    let text = [
      "#retake 2 key=yard/motion columns=packet,camera,grey(camera),motion*(grey)",
      "0 a300714c 77d0193e 6e01bb0a cb2fa2ae",
      "1 - 0c8812aa !91c3d2e1 -",
    ]
    let checksum = Digest128(of: text.map { $0 + "\n" }.joined())
    #expect(try lines(url) == text + ["B 2 \(checksum)"])
    let reader = try StageDigestReader(url, track: 3)
    #expect(reader.columns == SampleRun.columns)
    #expect(try reader.next() == rows[0])
    #expect(try reader.next() == rows[1])
    #expect(try reader.next() == nil)
  }

  @Test func `columns with several inputs read back`() throws {
    let folder = try TemporaryFolder("retake-golden")
    let url = folder.file("digests-x.gold")
    let columns = [
      StageColumn("left"), StageColumn("right"),
      StageColumn("join", isStateful: true, inputs: ["left", "right"]),
    ]
    let writer = try StageDigestWriter(url, key: "a/b", columns: columns, writesTrack: true)
    let row = StageRow(
      frame: FrameID(track: 1, sequence: 2), packet: .notRun,
      cells: [.value(1), .notRun, .failed(.max)])
    try writer.append(row)
    try writer.finish()
    let reader = try StageDigestReader(url, track: 0)
    #expect(reader.columns == columns)
    #expect(try reader.next() == row)
    #expect(try lines(url).dropLast().last == "1:2 - 00000001 - !ffffffff")
  }

  @Test func `other versions and wrong columns are refused by name`() throws {
    let folder = try TemporaryFolder("retake-golden")
    let decisions = try folder.write("#retake 2 key=a/b origin=0\n", to: "decisions.gold")
    #expect(throws: GoldenError.version(file: decisions.path, version: 2)) {
      try DecisionFileReader(decisions)
    }
    for columns in ["camera", "packet,grey(camera)", "packet,a,a", "packet,a(", "packet,(a)"] {
      let digests = try folder.write("#retake 1 key=a/b columns=\(columns)\n", to: "digests.gold")
      let error = #expect(throws: GoldenError.self) { try StageDigestReader(digests, track: 0) }
      #expect(error?.code == "golden.file.line", "\(columns)")
    }
  }

  @Test func `a golden of many frames streams through`() throws {
    let folders = try SampleFolders()
    let run = SampleRun(frames: 20_000)
    let manifest = try run.write(to: folders.golden)
    try run.write(to: folders.run)
    #expect(manifest.summary.captured == 20_000 && manifest.summary.facts == 20_000)
    #expect(folders.golden.fileNames().filter { $0.hasPrefix("results") }.count == 20)
    let comparison = try folders.compare()
    #expect(comparison.verdict == .passed && comparison.counts.same == 20_000)
    let (header, frames) = try folders.golden.frames([
      FrameID(track: 0, sequence: 3), FrameID(track: 0, sequence: 19_999),
    ])
    #expect(header?.sinks == ["boxes"] && frames.count == 2)
  }

  @Test func `rules that nobody gave suit what the sinks received`() throws {
    let folders = try SampleFolders()
    var run = SampleRun(frames: 2)
    run.sinks = ["boxes", "levels", "pixels"].map { .init($0) }
    for index in run.frames.indices {
      run.frames[index].outcomes += [
        SinkOutcome(sink: "levels", content: .facts([.scalar(name: "mean", value: 1)])),
        SinkOutcome(sink: "pixels", content: .facts([.user(kind: "u", digest: .zero)])),
      ]
    }
    let manifest = try run.write(to: folders.golden)
    #expect(
      manifest.compare.bySink.mapValues(\.mode) == [
        "boxes": .boxes, "levels": .numeric, "pixels": .exact,
      ])
    #expect(manifest.text.contains("levels: {mode: numeric, score: 0, scalar: 0, driftPer1000: 0}"))
  }
}
