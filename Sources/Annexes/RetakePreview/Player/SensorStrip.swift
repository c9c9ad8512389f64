import RetakeBuffers
import RetakeCore

/// A sensor's samples around the shown frame, as curves: one for each of the first channels.
struct SensorStrip: Hashable, Sendable {
  /// More sensors would leave no space for the frame.
  static let countMax = 3
  /// More curves than that cannot be told apart.
  static let channelsMax = 3

  let sensor: SensorTrack
  let samples: [SensorSample]
  /// The shown frame's time; it is in the middle.
  let now: Int64
  /// The time on either side of it.
  let reach: Int64

  /// The samples of a reader around a time.
  ///
  /// - Throws: The error of the reader.
  init(
    _ sensor: SensorTrack, in reader: any SensorReader, at now: Int64, reach: Int64
  ) throws {
    self.sensor = sensor
    (self.now, self.reach) = (now, reach)
    samples = try reader.samples(
      of: sensor.number, around: Timestamp(nanoseconds: now), reach: reach)
  }

  init(_ sensor: SensorTrack, samples: [SensorSample], now: Int64, reach: Int64) {
    (self.sensor, self.samples, self.now, self.reach) = (sensor, samples, now, reach)
  }

  /// The smallest and the largest value of the drawn channels; `nil` without a number.
  var range: ClosedRange<Double>? {
    let values = samples.flatMap { $0.values.prefix(Self.channelsMax) }.filter(\.isFinite)
    guard let low = values.min(), let high = values.max() else { return nil }
    return low...high
  }

  /// For each drawn channel the rectangles of its curve: one for each column of pixels that it
  /// crosses, from one sample to the next. A gap in the numbers is a gap in the curve.
  func curves(in area: CanvasRect) -> [[CanvasRect]] {
    guard let range else { return [] }
    return (0..<min(Self.channelsMax, sensor.channels.count)).map { channel in
      var rects: [CanvasRect] = []
      var last: (x: Int, y: Int)?
      for sample in samples {
        guard sample.values.indices.contains(channel), sample.values[channel].isFinite else {
          last = nil
          continue
        }
        let point = (
          x: column(sample.time.nanoseconds, in: area), y: row(sample.values[channel], range, area)
        )
        add(from: last ?? point, to: point, &rects)
        last = point
      }
      return rects
    }
  }

  private func add(
    from: (x: Int, y: Int), to: (x: Int, y: Int), _ rects: inout [CanvasRect]
  ) {
    let columns = max(1, to.x - from.x)
    var top = from.y
    for step in 1...columns {
      let next = from.y + (to.y - from.y) * step / columns
      rects.append(
        CanvasRect(from.x + min(step, to.x - from.x), min(top, next), 1, abs(next - top) + 1))
      top = next
    }
  }

  private func column(_ time: Int64, in area: CanvasRect) -> Int {
    area.x + Int((time - now + reach) * Int64(area.width - 1) / (2 * reach))
  }

  private func row(_ value: Double, _ range: ClosedRange<Double>, _ area: CanvasRect) -> Int {
    let span = range.upperBound - range.lowerBound
    // A constant is a line in the middle.
    let part = span > 0 ? (value - range.lowerBound) / span : 0.5
    return area.y + area.height - 1 - Int((part * Double(area.height - 1)).rounded())
  }

  /// The newest value of the first channel at the shown frame, with the unit.
  var text: String {
    guard let value = samples.last(where: { $0.time.nanoseconds <= now })?.values.first else {
      return ""
    }
    let rounded = (value * 1_000).rounded() / 1_000
    // A list has the units of different channels.
    let unit = sensor.unit.split(separator: ",").first ?? ""
    return "\(rounded)" + (unit.isEmpty || unit == "1" ? "" : " \(unit)")
  }
}
