import Testing

@testable import RetakeRewrite

/// One letter per packet, in decode order, and the frames that they produce: `I` an entry, `P` and
/// `B` depend on the entry before, `L` is a leading frame: it depends on the second to last entry.
private struct Track {
  var rows: [TrimPlan.Row] = []
  var segments: [Int: Int] = [:]

  /// - Parameter shown: The sequence of each packet, or `nil` for a packet without a frame.
  init(_ packets: String, shown: [Int?]? = nil) {
    var entries: [Int] = []
    for (packet, letter) in packets.enumerated() {
      if letter == "I" { entries.append(packet) }
      segments[packet] = 0
      guard let sequence = shown.map({ $0[packet] }) ?? packet else { continue }
      let entry = letter == "L" ? entries.dropLast().last : entries.last
      rows.append(TrimPlan.Row(sequence: sequence, packet: packet, entry: entry ?? 0))
    }
    rows.sort { $0.sequence < $1.sequence }
  }

  /// `c` copied, `e` encoded, `-` not in the span; by sequence.
  func plan(
    _ span: ClosedRange<Int>, damaged: Set<Int> = [], end: TrimPlan.LastGroup = .cut
  ) -> String {
    let wanted = rows.filter { span.contains($0.sequence) }.compactMap(\.packet)
    let range = (wanted.min() ?? 0)...(wanted.max() ?? 0)
    let near = rows.filter { span.contains($0.sequence) || range.contains($0.packet ?? -1) }
    let plan = TrimPlan(near, span: span, segments: segments, damaged: damaged, end: end)
    return String(
      rows.map { row -> Character in
        switch plan.fates[row.sequence] {
        case .copied: "c"
        case .encoded: "e"
        case .unreadable: "x"
        case nil: "-"
        }
      })
  }
}

@Suite struct TrimPlanTests {
  @Test func `a span at an entry is copied up to its last packet`() {
    #expect(Track("IPPPIPPPIPPP").plan(4...9) == "----cccccc--")
    #expect(Track("IPPPIPPPIPPP").plan(0...11) == "cccccccccccc")
  }

  @Test func `frames before the first entry are encoded`() {
    #expect(Track("IPPPIPPPIPPP").plan(2...6) == "--eeccc-----")
    #expect(Track("IPPPIPPPIPPP").plan(1...3) == "-eee--------")
  }

  @Test func `a reference from behind the span is not copied`() {
    // Shown: I0 B1 B2 P3 B4 B5 P6; decoded: I P B B P B B.
    let track = Track("IPBBPBB", shown: [0, 3, 1, 2, 6, 4, 5])
    #expect(track.plan(0...3) == "cccc---")
    #expect(track.plan(0...4) == "cccce--")
  }

  @Test func `leading pictures are encoded where the entry before them is left out`() {
    // Shown: I0 P1 L2 L3 I4 P5, then L6 L7 I8.
    let track = Track("IPILLPILL", shown: [0, 1, 4, 2, 3, 5, 8, 6, 7])
    #expect(track.plan(0...8) == "ccccccccc")
    #expect(track.plan(2...8) == "--eeccccc")
    // A leading image outside the span must not be included with its group.
    #expect(track.plan(3...8) == "---eeeeec")
  }

  @Test func `packets that show nothing come along only in whole groups`() {
    let track = Track("IHPPIHPP", shown: [0, nil, 1, 2, 3, nil, 4, 5])
    #expect(track.plan(0...5) == "ccccee")
    #expect(track.plan(0...3) == "cccc--")
    #expect(track.plan(0...5, end: .whole) == "cccccc")
  }

  @Test func `where packets hide pictures of later, a group that is cut is encoded`() {
    #expect(Track("IPPPIPPP").plan(0...5, end: .hidden) == "ccccee--")
    #expect(Track("IPPPIPPP").plan(0...7, end: .whole) == "cccccccc")
    #expect(Track("IPPPIPPP").plan(0...7, end: .nothing) == "eeeeeeee")
  }

  @Test func `a damaged packet ends what is copied`() {
    #expect(Track("IPPPIPPPIPPP").plan(0...11, damaged: [6]) == "cccceeeecccc")
    #expect(Track("IPPPIPPPIPPP").plan(0...9, damaged: [9]) == "ccccccccce--")
  }
}
