import RetakeCore
import Testing

@testable import RetakePreview

/// Curves of sensors under a frame.
@Suite struct SensorStripTests {
  private func strip(_ values: [[Double]], channels: [String] = ["x"]) -> SensorStrip {
    SensorStrip(
      SensorTrack(
        number: 0, name: "imu", kind: "imu", unit: "g", channels: channels,
        sampleCount: values.count),
      samples: values.enumerated().map { place, values in
        let time = Timestamp(nanoseconds: Int64(place) * 10 - 40)
        return SensorSample(time: time, arrival: time, values: values)
      }, now: 0, reach: 50)
  }

  private let area = CanvasRect(100, 20, 101, 11)

  @Test func `a curve has a rectangle for each column, from the lowest to the highest value`() {
    let strip = strip((0...8).map { [Double($0)] })
    let curve = strip.curves(in: area)[0]
    // Samples are 10 columns apart, from 40 before the frame to 40 after it.
    #expect(curve.first == CanvasRect(110, 30, 1, 1) && curve.last?.x == 190)
    #expect(Set(curve.map(\.x)) == Set(110...190))
    #expect(curve.map(\.y).min() == 20 && strip.range == 0...8)
    #expect(curve.allSatisfy { $0.y >= 20 && $0.y + $0.height <= 31 })
    #expect(strip.text == "4.0 g")
  }

  @Test func `a constant is a line in the middle, and NaN is a gap`() {
    let flat = strip([[2], [2], [.nan], [2], [2]]).curves(in: area)[0]
    #expect(Set(flat.map(\.y)) == [25])
    #expect(!flat.map(\.x).contains(130) && flat.map(\.x).contains(120))
    #expect(strip([[.nan]]).curves(in: area).isEmpty && strip([]).text.isEmpty)
  }

  @Test func `at most three channels are drawn, and their room is above the lanes`() {
    let many = strip([[1, 2, 3, 4], [1, 2, 3, 90]], channels: ["a", "b", "c", "d"])
    #expect(many.curves(in: area).count == 3 && many.range == 1...3)
    for (lanes, strips) in [(0, 0), (0, 1), (3, 2), (8, 3)] {
      let layout = PlayerLayout(CanvasRect(0, 0, 640, 700), lanes: lanes, strips: strips)
      #expect(layout.lanes.y + layout.lanes.height == 700)
      #expect(layout.stripCount == strips)
      for strip in 0..<strips {
        let area = layout.strip(strip)
        #expect(area.y >= layout.scrub.y + layout.scrub.height)
        #expect(area.y + area.height <= layout.lanes.y)
      }
    }
  }
}
