import RetakeCore
import Testing

@testable import RetakeGraph

@Suite struct ObservationValueTests {
  private static let value = Observations([
    Observation(
      .mask(Mask(width: 5, height: 4) { x, y in x > y }), label: "a", score: 0.1, identity: -1),
    Observation(
      .points(KeyPoints([KeyPoint("é", x: 0.1, y: -.infinity, score: 2)], bones: [.init(0, 0)])),
      label: ""),
    Observation(.embedding([0.1, -0, .greatestFiniteMagnitude]), label: "b", identity: 0),
    Observation(
      .json(.object(["k": .array([.number(0.1), .integer(.max), .null, .bool(true)])])),
      label: "c"),
  ])

  @Test func `a cache returns the value that it was given`() throws {
    let form = try #require(ValueForm(Observations.self))
    let bytes = try #require(form.encode(Self.value))
    let read = try form.decode(bytes[...])
    #expect(read as? Observations == Self.value && read.digest == Self.value.digest)
    #expect(throws: (any Error).self) { try form.decode(bytes.dropLast()) }
    #expect(throws: (any Error).self) { try form.decode((bytes + [0])[...]) }
  }

  @Test func `each item is one fact, and the order counts in the digest`() {
    #expect(Self.value.facts == Self.value.items.map { .observation($0) })
    #expect(Observations(Self.value.items.reversed()).digest != Self.value.digest)
    #expect(Observations.valueKind.description == "observations")
  }

  @Test func `an item of a forEach has the number of its detection in the name`() {
    let box = Detection(box: Box(x: 0, y: 0, width: 1, height: 1), score: 1)
    let items = Items(
      detections: Detections([box], classNames: []), outcomes: [.value(Self.value)])
    let labels = items.facts.compactMap { fact -> String? in
      if case .observation(let item) = fact { item.label } else { nil }
    }
    #expect(labels == ["0.a", "0.", "0.b", "0.c"])
  }
}
