import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors

extension FuzzTarget {
  /// Measurements: GPMF, and files of samples and of times.
  static let telemetry = [
    FuzzTarget("gpmf") { bytes, _ in try readTelemetry(bytes) },
    samples("csv"), samples("jsonl"), samples("gpx"), samples("nmea"), samples("srt"),
    .file("times", "frames.csv") { file in _ = try FrameTimesFile(parsing: file.path) },
  ]

  private static func samples(_ format: String) -> FuzzTarget {
    .file(format, "samples.\(format)") { file in
      var rows = try SensorFileImport.rows(SensorRequest(parsing: file.path))
      // Ends: the file ends.
      while try rows.next() != nil {}
      _ = (rows.channels, rows.unit, rows.valueUnit, rows.remarks)
    }
  }

  /// The input is packets, each after its size in two bytes.
  private static func readTelemetry(_ bytes: [UInt8]) throws {
    let stream = MediaStream(
      index: 0, kind: .data, codec: "bin_data",
      timeBase: TimeBase(1, 1_000))
    var parts = SizedParts(bytes)
    var packets: [MediaPacket] = []
    // Ends: each round consumes two bytes or more.
    while let part = parts.next() {
      let start = Int64(packets.count) * 1_000
      packets.append(
        try MediaPacket(
          index: packets.count, pts: start, dts: start, duration: 1_000, bytes: part))
    }
    var rest = packets[...]
    let counts = TelemetryCounts(of: stream) { rest.popFirst() }
    if let counts { _ = counts.start(of: counts) }
    for packet in packets { _ = try TelemetryPayload.all(in: packet) }
  }
}
