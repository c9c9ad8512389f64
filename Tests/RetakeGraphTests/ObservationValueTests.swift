import RetakeCore
import Testing

@testable import RetakeGraph

@Suite struct ObservationValueTests {
  private static let value = Observations(
    [
      Observation(
        .mask(Mask(width: 5, height: 4) { x, y in x > y }), label: "a", score: 0.1, identity: -1),
      Observation(
        .points(KeyPoints([KeyPoint("é", x: 0.1, y: -.infinity, score: 2)], bones: [.init(0, 0)])),
        label: ""),
      Observation(.embedding([0.1, -0, .greatestFiniteMagnitude]), label: "b", identity: 0),
      Observation(
        .json(.object(["k": .array([.number(0.1), .integer(.max), .null, .bool(true)])])),
        label: "c"),
      Observation(.polyline(Polyline([[0.1, -.infinity], [2, 3]])), label: "d"),
      Observation(.polyline(Polyline([], isClosed: true)), label: "e"),
    ] + maps)

  private static let maps = [
    PixelArray(width: 2, height: 1, [0.1, .nan]),
    PixelArray(width: 1, height: 2, channels: 3, element: .uint8, bytes: [1, 2, 3, 4, 5, 6]),
  ].compactMap { $0.map { Observation(.image($0), label: "f") } }

  @Test func `a cache returns the value that it was given`() throws {
    let form = try #require(ValueForm(Observations.self))
    let bytes = try #require(form.encode(Self.value))
    let read = try form.decode(bytes[...])
    #expect(read as? Observations == Self.value && read.digest == Self.value.digest)
    let arrays = (read as? Observations)?.items.suffix(2).map { item -> [UInt8]? in
      guard case .image(let array) = item.content else { return nil }
      return array.bytes
    }
    #expect(arrays == [[205, 204, 204, 61, 0, 0, 192, 127], [1, 2, 3, 4, 5, 6]])
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
    #expect(labels == ["0.a", "0.", "0.b", "0.c", "0.d", "0.e", "0.f", "0.f"])
  }
}
