import RetakeTestSupport
import Testing

@testable import RetakeCore

@Suite struct ResultWriterTests {
  private typealias Samples = ResultSamples

  @Test func `the example of the format is written as it stands`() {
    let dropped = FrameResult(
      id: FrameID(track: 0, sequence: 3), pts: 3_003,
      outcomes: [SinkOutcome(sink: "boxes", content: .ended(.dropped(.queue), node: "motion"))])
    let text = Samples.text([
      Samples.delivered(0), Samples.delivered(1),
      Samples.delivered(2, [Samples.box(120, 64, score: 0.9132)]), dropped,
    ])
    let lines = """
      F 0 0
      F 1 1001
      F 2 2002
      D -:0 120.0 64.0 32.0 48.0 0.9132
      F 3 3003
      X drop queue motion

      """
    #expect(
      text == """
        #retake 1 chunk=1024 key=yard/motion tb=0:1/30000 sinks=boxes classes=motion
        \(lines)B 4 \(Digest128(of: lines))

        """)
  }

  @Test func `each kind of fact has its line`() {
    let digest = Digest128(of: "pixels")
    #expect(
      Samples.lines([
        .scalar(name: "luma", value: 12.3456),
        .frame(
          FramePrint(
            width: 640, height: 480, format: "I420", range: "full", matrix: "bt709",
            digest: digest)),
        .tensor(type: "f32", shape: [1, 3, 8], digest: digest),
        .waveform(Waveform(name: "pulse", rate: 30, samples: [1, -0.5])),
        .text(name: "plate", text: "é \"A\""),
        .user(kind: "own", digest: digest),
        .classification(Classification(label: "traffic light", score: 0.5)),
        Samples.box(1, 2, classes: [Classification(label: "red", score: 0.25)]),
      ]) == [
        "D -:0 1.0 2.0 32.0 48.0 0.5000",
        "C 0 red=0.2500",
        "V luma=12.346",
        "P 640x480 I420 full bt709 \(digest)",
        "N f32 1x3x8 \(digest)",
        "W pulse 30.000 2 1.000 -0.500",
        "T plate \"\\u00E9 \\\"A\\\"\"",
        "U own \(digest)",
        "C - traffic%20light=0.5000",
      ])
  }

  @Test func `detections are sorted on their rounded values`() {
    let lines = Samples.lines([
      Samples.box(5, 9, classIndex: 1), Samples.box(7, 1.04, identity: 2),
      Samples.box(7, 1, score: 0.2, identity: 2), Samples.box(3, 4), Samples.box(2, 4),
    ])
    #expect(
      lines == [
        "D -:0 2.0 4.0 32.0 48.0 0.5000",
        "D -:0 3.0 4.0 32.0 48.0 0.5000",
        "D 2:0 7.0 1.0 32.0 48.0 0.2000",
        "D 2:0 7.0 1.0 32.0 48.0 0.5000",
        "D -:1 5.0 9.0 32.0 48.0 0.5000",
      ])
  }

  @Test func `a significant order is kept`() {
    var writer = ResultWriter(
      header: Samples.header, sinks: [.init("boxes", orderIsSignificant: true)])
    writer.append(Samples.delivered(0, [Samples.box(9, 9), Samples.box(1, 1)]))
    let text = writer.finish().map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    #expect(text.contains("D -:0 9.0 9.0 32.0 48.0 0.5000\nD -:0 1.0 1.0"))
  }

  @Test func `any order of detections gives the same text`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let facts = (0..<6).map { _ in
        Samples.box(
          Double.random(in: 0..<0.3, using: &random), Double.random(in: 0..<0.3, using: &random),
          classes: [Classification(label: "a", score: Double.random(in: 0..<1, using: &random))])
      }
      #expect(Samples.lines(facts) == Samples.lines(facts.shuffled(using: &random)))
    }
  }

  @Test func `several sinks and tracks are named`() {
    let header = ResultHeader(
      key: "yard/both", tracks: [.init(3, TimeBase(1, 25)), .init(0, TimeBase(1, 12_800))],
      sinks: ["motion", "faces"], classes: ["motion": ["motion"], "faces": ["face", "hand, open"]])
    let frame = FrameResult(
      id: FrameID(track: 3, sequence: 8), pts: nil,
      outcomes: [
        SinkOutcome(sink: "faces", content: .facts([.scalar(name: "n", value: 0)])),
        SinkOutcome(sink: "motion", content: .ended(.replaced, node: "motion")),
      ])
    let text = Samples.text([frame], header: header)
    #expect(
      text.hasPrefix(
        """
        #retake 1 chunk=1024 key=yard/both tb=0:1/12800,3:1/25 sinks=faces,motion \
        classes=faces:face,faces:hand%2C%20open,motion:motion
        F 3:8 -
        O faces
        V n=0.000
        O motion
        X supersede - motion
        B 1
        """))
  }

  @Test func `a block ends after 64 frames and a file after 1,024`() {
    var writer = Samples.writer()
    var files: [ResultChunkText] = []
    for sequence in 0..<2_050 {
      if let file = writer.append(Samples.delivered(sequence)) { files.append(file) }
    }
    if let file = writer.finish() { files.append(file) }
    let counts = files.map { file in
      String(decoding: file.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix("B ") }.map { $0.split(separator: " ")[1] }
    }
    #expect(files.map(\.name) == (0..<3).map { "results-0000\($0).gold" })
    #expect(
      counts == [Array(repeating: "64", count: 16), Array(repeating: "64", count: 16), ["2"]])
    #expect(writer.frames == 2_050)
  }

  @Test func `a run that ends with a full file has no empty one, a run without frames has one`() {
    var writer = Samples.writer()
    for sequence in 0..<1_024 { writer.append(Samples.delivered(sequence)) }
    #expect(writer.finish() == nil)
    #expect(
      Samples.text([])
        == "#retake 1 chunk=1024 key=yard/motion tb=0:1/30000 sinks=boxes classes=motion\n")
  }

  @Test func `the digest covers all lines but headers and B lines`() {
    var writer = Samples.writer()
    var lines = ""
    for sequence in 0..<1_500 {
      writer.append(Samples.delivered(sequence, [.scalar(name: "n", value: Double(sequence))]))
      lines += "F \(sequence) \(sequence * 1_001)\nV n=\(sequence).000\n"
    }
    _ = writer.finish()
    #expect(writer.digest == Digest128(of: lines))
    #expect(writer.facts == 1_500)
  }

  @Test func `the platform is named where pictures, tensors or users' values occur`() {
    var header = Samples.header
    header.platform = "linux-x86_64-fma"
    let plain = Samples.text([Samples.delivered(0)], header: header)
    let bound = Samples.text(
      [Samples.delivered(0, [.user(kind: "own", digest: .zero)])], header: header)
    #expect(!plain.contains("platform="))
    #expect(bound.contains("classes=motion platform=linux-x86_64-fma\n"))
  }

  @Test func `class names may come before the file is complete`() {
    var writer = Samples.writer()
    writer.append(Samples.delivered(0))
    writer.setClasses(["car", "bus"], of: "boxes")
    let text = writer.finish().map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
    #expect(text.contains("classes=car,bus\n"))
  }
}
