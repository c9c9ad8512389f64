import RetakeCore
import RetakeTestSupport
import Testing

@Suite struct DecisionLineTests {
  @Test func `a line is time, node, frame, kind and details in byte order`() {
    let line = DecisionLine(
      time: 400_000_000, node: "motion", frame: FrameID(track: 0, sequence: 12), kind: .outcome,
      details: [.init("reason", "queue"), .init("fate", "drop"), .init("Z", "1")])
    #expect(line.description == "@400000000 motion 0:12 outcome Z=1 fate=drop reason=queue")
    #expect(line["fate"] == "drop")
    #expect(line["nothing"] == nil)
    let item = DecisionLine(
      time: -7, node: "crop", frame: FrameID(track: 3, sequence: 1), item: 4, kind: .itemFail)
    #expect(item.description == "@-7 crop 3:1.4 itemFail")
    #expect(DecisionLine(time: 0, node: "pool", kind: .resize).description == "@0 pool - resize")
  }

  @Test func `what is written reads back`() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<1_000 {
      let frame = FrameID(track: random.pick(0...3), sequence: random.pick(0...1_000_000))
      let hasFrame = random.chance(80)
      let line = DecisionLine(
        time: Int64(bitPattern: random.next()), node: random.pick(["a", "camera", "n-9/convert"]),
        frame: hasFrame ? frame : nil,
        item: hasFrame && random.chance(30) ? random.pick(0...99) : nil,
        kind: random.pick([.drop, .start, .halt]),
        details: ["reason", "code", "fate"].filter { _ in random.chance(50) }.map {
          .init($0, random.pick(["queue", "x=y", ""]))
        })
      #expect(DecisionLine(parsing: line.description) == line)
    }
  }

  @Test(arguments: [
    "", "@", "@1", "@1 a", "@1 a 0:1", "1 a 0:1 drop", "@x a 0:1 drop", "@1  0:1 drop",
    "@1 a 0 drop", "@1 a 0:x drop", "@1 a 0:1.x drop", "@1 a 0:1.2.3 drop", "@1 a 0:1 ",
    "@1 a 0:1 drop reason", "@1 a 0:1 drop =queue", "@1 a 0:1 drop  reason=queue",
    "@1 a 0:1 drop reason=queue ",
  ])
  func `any other form is no line`(text: String) {
    #expect(DecisionLine(parsing: text) == nil)
  }
}
