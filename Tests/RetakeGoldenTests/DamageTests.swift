import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeGolden

@Suite struct DamageTests {
  private func outcome(_ folders: SampleFolders) -> Comparison {
    GoldenComparator(
      golden: folders.golden, actual: folders.run,
      options: .init(platform: SampleRun.platform)
    ).outcome()
  }

  private func sample() -> SampleRun {
    var run = SampleRun(frames: 80)
    for sequence in [40, 41, 70] { run.drop(sequence) }
    run.setFacts([.text(name: "plate", text: "é"), .scalar(name: "n", value: .nan)], at: 7)
    return run
  }

  private func written() throws -> SampleFolders {
    let folders = try SampleFolders()
    try sample().write(to: folders.golden)
    try sample().write(to: folders.run)
    return folders
  }

  @Test func `no change of a byte of results or decisions passes`() throws {
    let folders = try written()
    #expect(outcome(folders).verdict == .passed)
    var random = SeededGenerator(seed: 11)
    for name in ["results-00000.gold", "decisions.gold"] {
      let file = folders.golden.file(name)
      let bytes = [UInt8](try Data(contentsOf: file))
      for _ in 0..<400 {
        var changed = bytes
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed[place] ^= UInt8.random(in: 1...127, using: &random)
        case 1: changed.remove(at: place)
        default: changed.insert(UInt8.random(in: 10...126, using: &random), at: place)
        }
        if changed == bytes { continue }
        try Data(changed).write(to: file)
        #expect(outcome(folders).verdict != .passed, "\(name), byte \(place)")
      }
      for count in stride(from: 0, to: bytes.count, by: 37) {
        try Data(bytes.prefix(count)).write(to: file)
        #expect(outcome(folders).verdict != .passed, "\(name), cut at \(count)")
      }
      try Data(bytes).write(to: file)
    }
    #expect(outcome(folders).verdict == .passed)
  }

  @Test func `no line may go missing, come twice or change places`() throws {
    let folders = try written()
    for name in ["results-00000.gold", "decisions.gold"] {
      let file = folders.golden.file(name)
      let text = try String(contentsOf: file, encoding: .utf8)
      let lines = text.split(separator: "\n").map(String.init)
      for index in lines.indices.dropLast() {
        var others: [[String]] = [lines, lines, lines]
        others[0].remove(at: index)
        others[1].insert(lines[index], at: index)
        others[2].swapAt(index, index + 1)
        for changed in others where changed != lines {
          try Data((changed.joined(separator: "\n") + "\n").utf8).write(to: file)
          #expect(outcome(folders).verdict != .passed, "\(name), line \(index + 1)")
        }
      }
      try Data(text.utf8).write(to: file)
    }
    #expect(outcome(folders).verdict == .passed)
  }

  @Test func `no part of the summary or of the input may change`() throws {
    let folders = try written()
    let file = folders.golden.file("golden.yml")
    let text = try String(contentsOf: file, encoding: .utf8)
    let summary = try folders.golden.manifest().summary
    let (digest, results) = (summary.decisionDigest.description, summary.resultDigest.description)
    for (from, to) in [
      ("captured: 80", "captured: 81"), ("delivered: 77", "delivered: 80"),
      ("facts: \(summary.facts)", "facts: 24"), (digest, Digest128(of: "another").description),
      (results, Digest128(of: "another").description),
      ("frames: 80", "frames: 79"), ("session: yard", "session: park"),
      ("1/30000", "1/25"), ("name: motion,", "name: other,"), ("box: 0.1", "box: 1"),
      ("{boxes: {box", "{boxen: {box"), ("v: 1", "v: 2"), ("mode: every-frame", "mode: simulate"),
    ] {
      let changed = text.replacing(from, with: to)
      #expect(changed != text, "\(from)")
      try Data(changed.utf8).write(to: file)
      #expect(outcome(folders).verdict != .passed, "\(to)")
    }
  }

  @Test func `missing files are told apart`() throws {
    for (name, code) in [
      ("golden.yml", nil), ("results-00000.gold", "golden.file.missing"),
      ("decisions.gold", "golden.file.missing"),
    ] {
      let folders = try written()
      try FileManager.default.removeItem(at: folders.golden.file(name))
      let comparator = GoldenComparator(golden: folders.golden, actual: folders.run)
      if let code {
        let error = #expect(throws: GoldenError.self) { try comparator.compare() }
        #expect(error?.code == code)
        #expect(error?.place?.file == folders.golden.url.appending(path: name).path)
        #expect(outcome(folders).verdict == .errored)
      } else {
        #expect(outcome(folders).verdict == .missing)
        let error = #expect(throws: GoldenError.self) { try folders.golden.manifest() }
        #expect(error?.code == "golden.missing")
      }
    }
  }

  @Test func `a chunk that is not of this golden is noticed`() throws {
    let folders = try written()
    let chunk = folders.golden.file("results-00000.gold")
    try FileManager.default.copyItem(at: chunk, to: folders.golden.file("results-00001.gold"))
    #expect(outcome(folders).verdict == .errored)
  }

  /// Rows without their checksums.
  private static let version1: @Sendable ([String]) -> [String] = { lines in
    lines.filter { !$0.hasPrefix("B ") }.map { $0.replacing("#retake 2 ", with: "#retake 1 ") }
  }

  @Test func `digests of version 1 are read, changed ones a note`() throws {
    let folders = try written()
    try edit(folders.golden, Self.version1)
    #expect(outcome(folders).verdict == .passed && outcome(folders).notes.isEmpty)
    try edit(folders.golden) { lines in
      [lines[0], lines[1].dropLast(8) + "00000000"] + lines[2...]
    }
    #expect(outcome(folders).verdict == .passed && outcome(folders).notes.count == 1)
    try edit(folders.golden) { lines in [lines[0], String(lines[1].dropLast())] + lines[2...] }
    #expect(outcome(folders).verdict == .errored)
    #expect(outcome(folders).reasons.first?.contains("line 2 is damaged") == true)
  }

  private static let edits: [(name: String, edit: @Sendable ([String]) -> [String])] = [
    ("a row is deleted", { Array($0[..<2] + $0[3...]) }),
    ("a row in the middle is deleted", { $0.filter { !$0.hasPrefix("5 ") } }),
    ("all rows are deleted", { [$0[0]] }),
    ("the last rows and their checksum are deleted", { $0.filter { !$0.hasPrefix("7") } }),
    ("a row is doubled", { Array($0[...2] + $0[2...]) }),
    ("two rows are swapped", { [$0[0], $0[2], $0[1]] + $0[3...] }),
  ]

  @Test(arguments: 0..<edits.count, [false, true])
  func `digest rows that are not as they were written are an error that names the file`(
    number: Int, isOld: Bool
  ) throws {
    let folders = try written()
    if isOld { try edit(folders.golden, Self.version1) }
    try edit(folders.golden, Self.edits[number].edit)
    let comparison = outcome(folders)
    #expect(comparison.verdict == .errored, "\(Self.edits[number].name)")
    #expect(comparison.reasons.first?.contains("digests-linux-x86_64-fma.gold") == true)
  }

  @Test(arguments: ["cells of two rows are swapped", "a cell is changed", "a column is renamed"])
  func `digests that were changed are an error that names the file`(name: String) throws {
    let folders = try written()
    try edit(folders.golden) { lines in
      switch name {
      case "a cell is changed": [lines[0], lines[1].dropLast(8) + "00000000"] + lines[2...]
      case "a column is renamed": [lines[0].replacing("grey", with: "gray")] + lines[1...]
      default:
        [lines[0], "0" + lines[2].dropFirst(), "1" + lines[1].dropFirst()] + lines[3...]
      }
    }
    #expect(outcome(folders).verdict == .errored)
    #expect(outcome(folders).reasons.first?.contains("digests-linux-x86_64-fma.gold") == true)
  }

  private func edit(
    _ folder: GoldenFolder, _ change: ([String]) -> [String]
  ) throws {
    let file = folder.file("digests-linux-x86_64-fma.gold")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    let changed = change(lines)
    #expect(changed != lines)
    try Data((changed.joined(separator: "\n") + "\n").utf8).write(to: file)
  }

  @Test func `an altered digest of the decisions is a damaged golden and no regression`() throws {
    let folders = try written()
    let file = folders.golden.file("golden.yml")
    let text = try String(contentsOf: file, encoding: .utf8)
    let digest = "\(try folders.golden.manifest().summary.decisionDigest)"
    let other = digest.hasPrefix("0") ? "1" + digest.dropFirst() : "0" + digest.dropFirst()
    try Data(text.replacing(digest, with: other).utf8).write(to: file)
    #expect(outcome(folders).verdict == .errored)
    #expect(outcome(folders).reasons.first?.contains("golden.yml") == true)
    #expect(outcome(folders).reasons.first?.contains("decisionDigest") == true)
  }

  /// A second track whose frames are captured with the frames of the first.
  private func withTwoTracks(_ sample: SampleRun) -> SampleRun {
    var run = sample
    run.manifest.input.tracks["side"] = 1
    run.manifest.input.timeBase[1] = TimeBase(1, 30_000)
    run.decisions = sample.decisions.flatMap { line -> [DecisionLine] in
      guard let frame = line.frame else { return [line] }
      let other = DecisionLine(
        time: line.time, node: line.node, frame: FrameID(track: 1, sequence: frame.sequence),
        kind: line.kind, details: line.details)
      return [line, other]
    }
    return run
  }

  private func alter(_ name: String, in folder: GoldenFolder, _ old: String) throws {
    let file = folder.file(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    let other = (old.hasPrefix("0") ? "1" : "0") + old.dropFirst()
    try #require(text.contains(old))
    try Data(text.replacing(old, with: other).utf8).write(to: file)
  }

  @Test func `with several tracks an altered digest of all decisions is named beside the order`()
    throws
  {
    let folders = try SampleFolders()
    try withTwoTracks(sample()).write(to: folders.golden)
    try withTwoTracks(sample()).write(to: folders.run)
    #expect(outcome(folders).verdict == .passed)
    let digest = "\(try folders.golden.manifest().summary.decisionDigest)"
    try alter("golden.yml", in: folders.golden, digest)
    let finding = try #require(outcome(folders).findings.first)
    #expect(outcome(folders).verdict == .changed && finding.actual == digest)
    #expect(finding.message.contains("decisionDigest"), "\(finding.message)")
    #expect(finding.message.contains("golden.yml was altered"), "\(finding.message)")
  }

  @Test func `with several tracks an altered digest of one track's frames is named by its line`()
    throws
  {
    let folders = try SampleFolders()
    try withTwoTracks(sample()).write(to: folders.golden)
    try withTwoTracks(sample()).write(to: folders.run)
    let file = folders.golden.file("decisions.gold")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let place = try #require(lines.firstIndex { $0.hasPrefix("= 1 ") })
    let digest = try #require(lines[place].split(separator: " ").last)
    try alter("decisions.gold", in: folders.golden, String(digest))
    #expect(outcome(folders).verdict == .errored)
    let reason = try #require(outcome(folders).reasons.first)
    #expect(reason.contains("decisions.gold"), "\(reason)")
    #expect(reason.contains("line \(place + 1) does not fit"), "\(reason)")
  }

  @Test func `two inputs of which one has no decisions leave no doubt about the order`() throws {
    let folders = try SampleFolders()
    var run = sample()
    run.manifest.input.tracks["side"] = 1
    run.manifest.input.timeBase[1] = TimeBase(1, 30_000)
    try run.write(to: folders.golden)
    try run.write(to: folders.run)
    try alter(
      "golden.yml", in: folders.golden, "\(try folders.golden.manifest().summary.decisionDigest)")
    #expect(outcome(folders).verdict == .errored)
    #expect(outcome(folders).reasons.first?.contains("decisionDigest") == true)
  }

  @Test func `an environment is never compared`() throws {
    let folders = try written()
    try Data("nonsense: [\n".utf8).write(
      to: folders.golden.file("environment-linux-x86_64-fma.yml"))
    #expect(outcome(folders).verdict == .passed)
  }
}
