import Foundation
import RetakeCore
import RetakeRewrite
import Testing

@testable import RetakeSuite

@Suite struct RedactionPlanTests {
  private static let box = Box(x: 100, y: 100, width: 40, height: 40)

  /// Frames each 100 ms; `b` has a box, `f` failed, `x` has no pixels.
  private func seen(_ line: String) -> [RedactionPlan.Seen] {
    line.enumerated().map { number, letter in
      RedactionPlan.Seen(
        nanoseconds: Int64(number) * 100_000_000, width: 640, height: 480,
        hasImage: letter != "x", isFailed: letter == "f",
        boxes: letter == "b" ? [RedactionPlan.Found(box: Self.box)] : [])
    }
  }

  private func plan(_ seen: [RedactionPlan.Seen], hold: Int = 200) -> RedactionPlan {
    RedactionPlan(seen, margin: 0.2, hold: .milliseconds(hold))
  }

  /// `D` detected, `i` interpolated, `h` held, `-` without an area; several are in parentheses.
  private func text(_ plan: RedactionPlan) -> String {
    plan.areas.map { areas in
      let letters = areas.map { area in
        switch area.reason {
        case .detected: "D"
        case .interpolated: "i"
        case .dilated: "h"
        }
      }
      return letters.isEmpty ? "-" : letters.count == 1 ? letters[0] : "(\(letters.joined()))"
    }.joined()
  }

  @Test(arguments: [
    ("----b--b------", "--hhDiiDhh----"),
    // 400 ms are twice the time that a box is kept, 500 ms are more.
    ("b---b", "DiiiD"), ("b----b", "DhhhhD"),
    ("b-----b", "Dhh-hhD"), ("bx-b-x", "D-iDh-"), ("------", "------"), ("b", "D"),
  ])
  func `boxes are kept around an object and interpolated between`(
    found: String, covered: String
  ) {
    #expect(text(plan(seen(found))) == covered)
  }

  @Test func `frames without a box, with a box that is only kept, or that failed are uncertain`() {
    let plan = plan(seen("----b-fb---x--"))
    #expect(text(plan) == "--hhDiiDhh----")
    #expect(plan.uncertainSpans == [0...3, 5...6, 8...10, 12...13])
    #expect(plan.uncertain.count == 11)
  }

  @Test func `an interpolated box is uncertain over a long gap or a long way`() {
    // 200 ms are not longer than a box is kept, 300 ms are.
    #expect(plan(seen("b-b")).uncertain.isEmpty)
    #expect(plan(seen("b--b")).uncertain == [1, 2])
    var frames = seen("b-b")
    frames[0].boxes[0].identity = 1
    frames[2].boxes[0] = RedactionPlan.Found(
      box: Box(x: 400, y: 100, width: 40, height: 40), identity: 1)
    #expect(text(plan(frames)) == "DiD")
    #expect(plan(frames).uncertain == [1])
    // Another object that was found there covers it.
    frames[1].boxes = [
      RedactionPlan.Found(box: Box(x: 240, y: 90, width: 60, height: 60), identity: 2)
    ]
    #expect(plan(frames).uncertain == [0, 2])
  }

  @Test func `a box that is only kept is certain inside of a box that was found`() {
    var frames = seen("bbb")
    // The same object, at its other side and in two parts that overlap little.
    frames[1].boxes = [RedactionPlan.Found(box: Box(x: 96, y: 96, width: 120, height: 120))]
    frames[0].boxes[0].identity = 1
    frames[1].boxes[0].identity = 2
    frames[2].boxes[0].identity = 1
    #expect(text(plan(frames)) == "(Dh)(iD)(Dh)")
    #expect(plan(frames).uncertain == [0, 2])
    frames[0].boxes = []
    frames[2].boxes = []
    #expect(text(plan(frames)) == "hDh")
    #expect(plan(frames).uncertain == [0, 2])
    frames[0].boxes = [RedactionPlan.Found(box: Box(x: 100, y: 100, width: 110, height: 110))]
    frames[0].boxes[0].identity = 3
    // The kept area of the second object has its center in the first object's area.
    #expect(text(plan(frames)) == "(Dh)(hD)(hh)")
    #expect(plan(frames).uncertain == [2])
  }

  @Test func `a box moves between two detections of one object`() {
    var frames = seen("b-b")
    frames[2].boxes[0].box.x = 130
    frames[2].boxes[0].box.width = 60
    let wanted = RedactedArea(
      Box(x: 115, y: 100, width: 50, height: 40), margin: 0.2, frameWidth: 640, frameHeight: 480,
      reason: .interpolated)
    #expect(plan(frames).areas[1] == [wanted].compactMap(\.self))
  }

  @Test func `a tracker's number decides over the place`() {
    var frames = seen("b-b")
    frames[0].boxes[0].identity = 3
    frames[2].boxes[0].identity = 4
    #expect(text(plan(frames)) == "(Dh)(hh)(hD)")
    frames[2].boxes[0] = RedactionPlan.Found(
      box: Box(x: 500, y: 300, width: 40, height: 40), identity: 3)
    #expect(text(plan(frames)) == "DiD")
    frames[2].boxes[0].identity = nil
    #expect(text(plan(frames)) == "(Dh)(hh)(hD)")
  }

  @Test func `two objects that come close keep the boxes that fit best`() {
    var frames = seen("b-b")
    let near = Box(x: 120, y: 100, width: 40, height: 40)
    frames[0].boxes.append(RedactionPlan.Found(box: near))
    frames[2].boxes.insert(RedactionPlan.Found(box: near), at: 0)
    let areas = plan(frames).areas[1]
    #expect(Set(areas.map(\.reason)) == [.interpolated])
    let wanted = [Self.box, near].map {
      RedactedArea($0, margin: 0.2, frameWidth: 640, frameHeight: 480, reason: .interpolated)
    }
    #expect(Set(areas) == Set(wanted.compactMap(\.self)))
  }

  @Test func `the list has a line for each frame with pixels`() throws {
    let lines = plan(seen("bx-")).list(track: 2).split(separator: "\n")
    let first = try JSONValue(parsing: Data(try #require(lines.first).utf8))
    #expect(lines.count == 2)
    #expect(first["track"] == .integer(2) && first["sequence"] == .integer(0))
    #expect(first["uncertain"] == .bool(false))
    guard case .array(let areas) = first["areas"], let area = areas.first else {
      Issue.record("no areas")
      return
    }
    #expect(area["why"] == .string("detected") && area["cell"] == .integer(16))
    let last = try JSONValue(parsing: Data(try #require(lines.last).utf8))
    #expect(last["sequence"] == .integer(2) && last["uncertain"] == .bool(true))
  }
}
