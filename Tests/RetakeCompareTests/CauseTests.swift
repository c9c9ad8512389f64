import RetakeCore
import Testing

@testable import RetakeCompare

@Suite struct CauseTests {
  /// camera → gray → motion*, and camera → resize → faces.
  private let columns = [
    StageColumn("camera"), StageColumn("grey", inputs: ["camera"]),
    StageColumn("resize", inputs: ["camera"]),
    StageColumn("motion", isStateful: true, inputs: ["grey"]),
    StageColumn("faces", inputs: ["resize"]),
  ]

  /// Rows as strings: a column per frame, a character per node; `=` equal, `x` different, `-` not
  /// run in the actual run, `!` failed there.
  private func compare(_ lines: [String]) -> [RootCause] {
    var comparator = StageComparator(golden: columns, actual: columns, log: FindingLog())
    let drawing = lines.map { Array($0) }
    for sequence in drawing[0].indices {
      let frame = FrameID(track: 0, sequence: sequence)
      let golden = columns.indices.map { StageCell.value(UInt32(sequence * 10 + $0)) }
      let actual = columns.indices.map { column -> StageCell in
        switch drawing[column][sequence] {
        case "x": .value(UInt32(sequence * 10 + column + 5_000))
        case "-": .notRun
        case "!": .failed(7)
        default: golden[column]
        }
      }
      let packet = StageCell.value(UInt32(sequence))
      comparator.compare(
        golden: StageRow(frame: frame, packet: packet, cells: golden),
        actual: StageRow(frame: frame, packet: packet, cells: actual))
    }
    return comparator.log.causes.rootCauses
  }

  private func check(_ ids: [String], _ lines: [String]) {
    #expect(compare(lines).map(\.id) == ids)
  }

  @Test func `the root is the first stage whose inputs are equal`() {
    check(["grey@0:2"], ["====", "==xx", "====", "==xx", "===="])
    check(["faces@0:1"], ["====", "====", "====", "====", "=x=x"])
    check([], ["====", "====", "====", "====", "===="])
  }

  @Test func `two stages that differ on their own are two rootCauses`() {
    check(["grey@0:1", "faces@0:2"], ["====", "=x==", "====", "=x==", "==x="])
  }

  @Test func `a stateful stage is tainted from its first differing input`() {
    // gray differs once; motion differs only two frames later, when its inputs are equal again.
    check(["grey@0:0"], ["====", "x===", "====", "==xx", "===="])
    // A stage without state is not tainted: it causes its later difference itself.
    check(["resize@0:0", "faces@0:2"], ["====", "====", "x===", "====", "==x="])
  }

  @Test func `a failure differs from a value`() {
    #expect(compare(["==", "!=", "==", "--", "=="]).map(\.id) == ["grey@0:0"])
  }

  @Test func `a frame that ran on one side only is a root, and the state follows from it`() {
    let rootCauses = compare(["====", "====", "====", "-=xx", "===="])
    #expect(rootCauses.map(\.id) == ["motion@0:0"] && rootCauses[0].why == .ranOnOneSide)
  }

  @Test func `a decision explains what ran on one side only`() {
    var log = FindingLog()
    log.causes.setDecisionRootCause(
      RootCause(frame: FrameID(track: 0, sequence: 0), stage: "queue", why: .decisionDiffers))
    var comparator = StageComparator(
      golden: [StageColumn("camera")], actual: [StageColumn("camera")], log: log)
    let frame = FrameID(track: 0, sequence: 0)
    comparator.compare(
      golden: StageRow(frame: frame, packet: .notRun, cells: [.value(1)]),
      actual: StageRow(frame: frame, packet: .notRun, cells: [.notRun]))
    #expect(comparator.log.causes.rootCauses.map(\.id) == ["queue@0:0"])
    #expect(comparator.log.causes.root(of: frame) == 0)
  }

  @Test func `a stage with other inputs follows from the removed node and not from a decision`() {
    var log = FindingLog()
    log.causes.setDecisionRootCause(
      RootCause(frame: FrameID(track: 0, sequence: 0), stage: "queue", why: .decisionDiffers))
    var comparator = StageComparator(
      golden: [
        StageColumn("camera"), StageColumn("grey", inputs: ["camera"]),
        StageColumn("motion", inputs: ["grey"]),
      ], actual: [StageColumn("camera"), StageColumn("motion", inputs: ["camera"])], log: log)
    let frame = FrameID(track: 0, sequence: 3)
    comparator.compare(
      golden: StageRow(frame: frame, packet: .notRun, cells: [.value(1), .value(2), .value(3)]),
      actual: StageRow(frame: frame, packet: .notRun, cells: [.value(1), .value(30)]))
    let rootCauses = comparator.log.causes.rootCauses
    #expect(rootCauses.map(\.why) == [.decisionDiffers, .nodeRemoved])
    #expect(comparator.log.causes.root(of: frame).flatMap { rootCauses[$0].stage } == "grey")
  }

  @Test func `findings have one order, whichever frames have a time`() {
    /// The frames in the order of the sorted findings, for each order in which they were added.
    func orders(_ frames: [(track: Int, sequence: Int, time: Int64?)]) -> Set<[FrameID?]> {
      let places = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
      return Set(
        places.map { order in
          var log = FindingLog()
          for place in order {
            let (track, sequence, time) = frames[place]
            log.add(
              Finding(
                .boxMoved, frame: FrameID(track: track, sequence: sequence), time: time,
                node: "boxes", message: ""))
          }
          return log.sorted().findings.map(\.frame)
        })
    }
    // By sequence, by time and by track, each of them would precede the next one.
    #expect(
      orders([(1, 0, nil), (1, 1, 1), (0, 0, 5)]) == [
        [
          FrameID(track: 1, sequence: 0), FrameID(track: 1, sequence: 1),
          FrameID(track: 0, sequence: 0),
        ]
      ])
    // A time that falls within a track.
    #expect(
      orders([(0, 0, 10), (0, 1, 5), (1, 0, 7)]) == [
        [
          FrameID(track: 1, sequence: 0), FrameID(track: 0, sequence: 0),
          FrameID(track: 0, sequence: 1),
        ]
      ])
    #expect(
      orders([(0, 1, nil), (0, 0, nil), (1, 0, nil)]) == [
        [
          FrameID(track: 0, sequence: 0), FrameID(track: 0, sequence: 1),
          FrameID(track: 1, sequence: 0),
        ]
      ])
  }

  @Test func `other classes are one finding, also when no more findings are kept`() throws {
    let golden = CompareSamples.header()
    let actual = ResultHeader(
      key: golden.key, tracks: golden.tracks, sinks: golden.sinks, classes: ["boxes": ["bus"]])
    var comparator = ResultComparator(
      golden: golden, actual: actual, rules: CompareRules(), log: FindingLog(limit: 0))
    let frames = CompareSamples.frames(Array(repeating: [CompareSamples.box(0)], count: 6))
    for half in [frames[..<3], frames[3...]] {
      // Each half is a separate file, with its own header.
      let left = try CompareSamples.chunks(Array(half), header: golden)
      let right = try CompareSamples.chunks(Array(half), header: actual)
      try comparator.compare(golden: left[0], actual: right[0])
    }
    _ = comparator.finish()
    #expect(comparator.log.causes.rootCauses.map(\.why).contains(.sinkChanged))
    #expect(comparator.log.causes.rootCauses.first { $0.why == .sinkChanged }?.findings == 1)
  }

  @Test func `a lost frame taints the stages with state`() {
    var comparator = StageComparator(golden: columns, actual: columns, log: FindingLog())
    func row(_ sequence: Int, _ motion: UInt32) -> StageRow {
      StageRow(
        frame: FrameID(track: 0, sequence: sequence), packet: .value(1),
        cells: [.value(1), .value(2), .value(3), .value(motion), .value(5)])
    }
    comparator.compareOneSided(row(0, 4), isLost: true)
    comparator.compare(golden: row(1, 4), actual: row(1, 40))
    #expect(comparator.log.causes.rootCauses.map(\.why) == [.frameLost])
    #expect(comparator.log.causes.root(of: FrameID(track: 0, sequence: 1)) == 0)
  }

  @Test func `what a sink shows follows from the stages that it stands on`() {
    var comparator = StageComparator(
      golden: columns, actual: columns, sinks: ["boxes": ["motion"], "heads": ["faces"]],
      log: FindingLog())
    let frame = FrameID(track: 0, sequence: 4)
    func row(_ motion: UInt32, _ faces: UInt32) -> StageRow {
      StageRow(
        frame: frame, packet: .value(1),
        cells: [.value(1), .value(2), .value(3), .value(motion), .value(faces)])
    }
    comparator.compare(golden: row(4, 5), actual: row(40, 50))
    var log = comparator.log
    for sink in ["boxes", "heads"] {
      log.add(Finding(.boxMoved, frame: frame, node: sink, message: ""))
    }
    let (findings, rootCauses) = log.sorted()
    #expect(findings.map { $0.root.map { rootCauses[$0].id } } == ["motion@0:4", "faces@0:4"])
    #expect(rootCauses.map(\.findings) == [1, 1])
  }

  @Test func `a packet that differs is the root of what its source gives`() {
    var comparator = StageComparator(golden: columns, actual: columns, log: FindingLog())
    func row(_ packet: UInt32, _ camera: UInt32) -> StageRow {
      StageRow(
        frame: FrameID(track: 0, sequence: 3), packet: .value(packet),
        cells: [.value(camera), .value(camera + 1), .value(3), .value(4), .value(5)])
    }
    comparator.compare(golden: row(1, 1), actual: row(9, 9))
    #expect(comparator.log.causes.rootCauses.map(\.id) == ["packet@0:3"])
  }

  @Test func `columns and cells are read as they are written`() {
    for text in ["camera", "grey(camera)", "motion*(grey)", "join(a,b)", "state*"] {
      #expect(StageColumn(parsing: text)?.description == text)
    }
    for text in ["", "*", "a(", "a()", "a(b", "(b)", "a b", "a)b"] {
      #expect(StageColumn(parsing: text) == nil, "\(text)")
    }
    for text in ["-", "00000000", "!ffffffff", "0123abcd"] {
      #expect(StageCell(parsing: text)?.text == text)
    }
    for text in ["", "!", "0123abc", "0123ABCD", "+1234567", "--"] {
      #expect(StageCell(parsing: text) == nil, "\(text)")
    }
  }
}
