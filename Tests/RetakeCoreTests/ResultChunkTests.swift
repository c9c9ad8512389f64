import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct ResultChunkTests {
  private typealias Samples = ResultSamples

  @Test func `what was written reads back and writes the same bytes`() throws {
    for seed in 0..<40 {
      var random = SeededGenerator(seed: UInt64(seed))
      let frames = (0..<150).map { Samples.random($0, &random) }
      let text = Samples.text(frames)
      let chunk = try Samples.chunk(text)
      var again = Samples.writer()
      for frame in try Samples.frames(chunk) { again.append(frame) }
      let bytes = again.finish()?.bytes ?? []
      #expect(String(decoding: bytes, as: UTF8.self) == text)
      #expect(chunk.frameCount == 150 && chunk.blocks.map(\.frameCount) == [64, 64, 22])
      #expect(chunk.blocks.reduce(0) { $0 + $1.facts } == again.facts)
      var rolling = DigestHasher()
      chunk.append(to: &rolling)
      #expect(rolling.finish() == again.digest)
    }
  }

  @Test func `results text is ASCII`() {
    var random = SeededGenerator(seed: 99)
    let text = Samples.text((0..<300).map { Samples.random($0, &random) })
    #expect(text.utf8.allSatisfy { $0 == 0x0a || (0x20..<0x7f).contains($0) })
  }

  @Test func `the values come back`() throws {
    let text = Samples.text([
      Samples.delivered(2, [Samples.box(120.04, -64, score: .nan, identity: 7)])
    ])
    let frame = try #require(try Samples.frames(Samples.chunk(text)).first)
    #expect(frame.id == FrameID(track: 0, sequence: 2) && frame.pts == 2_002)
    let line = try #require(frame.outcomes.first?.lines.first)
    guard case .detection(let box) = line else { return #expect(Bool(false), "no detection") }
    #expect(box.identity == 7 && box.x.value == 120 && box.y.value == -64)
    #expect(box.score.units.isNaN)
    #expect(line.text == "D 7:0 120.0 -64.0 32.0 48.0 nan")
  }

  @Test func `any change of one byte after the header is noticed`() throws {
    var random = SeededGenerator(seed: 5)
    let bytes = Array(Samples.text((0..<70).map { Samples.random($0, &random) }).utf8)
    let start = try #require(bytes.firstIndex(of: 0x0a)) + 1
    for _ in 0..<2_000 {
      var changed = bytes
      let place = Int.random(in: start..<bytes.count, using: &random)
      changed[place] = changed[place] ^ UInt8.random(in: 1...127, using: &random)
      #expect(throws: ResultTextError.self, "byte \(place)") {
        _ = try Samples.frames(try ResultChunk(changed, file: "x"))
      }
    }
  }

  @Test func `a cut at any byte is noticed`() throws {
    let text = Samples.text((0..<70).map { Samples.delivered($0, [Samples.box(1, 2)]) })
    let header = try #require(text.firstIndex(of: "\n"))
    let bytes = Array(text.utf8)
    let start = text.utf8.distance(from: text.startIndex, to: header) + 1
    let second = try #require(text.range(of: "\nB 64 ")).upperBound
    let blockEnd = text.utf8.distance(from: text.startIndex, to: second) + 33
    for count in 0..<bytes.count where count != start && count != blockEnd {
      #expect(throws: ResultTextError.self, "\(count) bytes") {
        try ResultChunk(Array(bytes.prefix(count)), file: "x")
      }
    }
  }

  @Test func `versions that are not ours are refused by name`() throws {
    let text = Samples.text([Samples.delivered(0)])
    #expect(throws: ResultTextError.version(file: "results-00000.gold", version: 2)) {
      try Samples.chunk("#retake 2" + text.dropFirst(9))
    }
    #expect(throws: ResultTextError.version(file: "results-00000.gold", version: 0)) {
      try Samples.chunk("#retake 0" + text.dropFirst(9))
    }
    #expect(throws: ResultTextError.lineEnds(file: "results-00000.gold")) {
      try ResultChunk(
        Array(text.utf8).flatMap { $0 == 0x0a ? [0x0d, 0x0a] : [$0] }, file: "results-00000.gold")
    }
    #expect(throws: ResultTextError.header(file: "results-00000.gold", line: "not a golden")) {
      try Samples.chunk("not a golden\n")
    }
  }

  @Test func `a block says how many of its frames have facts, for each sink`() throws {
    let header = ResultHeader(
      key: "yard/both", tracks: [.init(0, TimeBase(1, 30_000))], sinks: ["boxes", "heads"])
    let box = Samples.box(1, 2)
    let facts: [(boxes: [ResultFact], heads: [ResultFact])] = [
      ([box, box], []), ([], []), ([box], [box]), ([], [box, box]),
    ]
    let frames = facts.enumerated().map { sequence, facts in
      FrameResult(
        id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence),
        outcomes: [
          SinkOutcome(sink: "boxes", content: .facts(facts.boxes)),
          SinkOutcome(sink: "heads", content: .facts(facts.heads)),
        ])
    }
    let chunk = try Samples.chunk(Samples.text(frames, header: header))
    #expect(chunk.blocks.map(\.framesWithFacts) == [[2, 2]])
    #expect(chunk.blocks.map(\.facts) == [6])
  }

  @Test func `lines with unknown letters are skipped`() throws {
    let lines = "F 0 0\nQ something new\nV n=1.000\nz 1\n"
    let chunk = try Samples.chunk(
      Samples.header.text + "\n\(lines)B 1 \(Digest128(of: lines))\n")
    let frames = try Samples.frames(chunk)
    #expect(frames.map { $0.outcomes.flatMap(\.lines).map(\.text) } == [["V n=1.000"]])
  }

  @Test func `a line that breaks the grammar is named with its file and line`() throws {
    for wrong in [
      "D 0 1.0 2.0 3.0 4.0 0.5000", "D -:0 01.0 2.0 3.0 4.0 0.5000", "D -:0 1. 2.0 3.0 4.0 0.5",
      "D -:0 1.0 2.0 3.0 4.0", "D -:0 -0.0 2.0 3.0 4.0 0.5000", "V =1.000", "V n=", "V n=1.000 ",
      "X vanished - motion", "X drop tired motion", "P 640 I420 full bt709 00", "C x a=1.000",
      "W w 30.000 3 1.000 2.000", "T t no quotes", "T t \"open", "U own 12", "N f32 1x DIGEST", "O",
      "O boxes", "F 1", "F 1 1 1", "F +1 1", "", "V n=1.0000000000",
    ] {
      let lines = "F 0 0\n\(wrong)\n"
      let chunk = try Samples.chunk(
        Samples.header.text
          + "\n\(lines)B \(wrong.hasPrefix("F") ? 2 : 1) \(Digest128(of: lines))\n")
      let error = #expect(throws: ResultTextError.self, "\(wrong)") { try Samples.frames(chunk) }
      #expect(error?.description.contains("results-00000.gold: line 3 is damaged") == true)
      #expect(error?.code == "core.results.line")
    }
  }
}
