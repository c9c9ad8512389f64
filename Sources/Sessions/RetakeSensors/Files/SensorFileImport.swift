import RetakeCore
package import RetakeStore

/// Reads a file of samples and writes them as a sensor. One batch is in memory at a time, so the
/// file may be of any size.
package struct SensorFileImport {
  private let request: SensorRequest
  /// The session's first frame, in nanoseconds of its time line.
  private let start: Int64
  private let continues: (Int) -> Bool

  /// - Parameters:
  ///   - start: The time of the session's first frame.
  ///   - continues: Called with the samples so far; false stops the import.
  package init(
    _ request: SensorRequest, start: Int64, continues: @escaping (Int) -> Bool = { _ in true }
  ) {
    (self.request, self.start, self.continues) = (request, start, continues)
  }

  /// How often `continues` is asked.
  private static let reportRows = 4_096

  package struct Outcome: Hashable {
    package var count = 0
    /// Of the first and the last sample, in the session.
    package var times: ClosedRange<Int64>
    /// Descriptions of the omitted rows.
    package var remarks: [String] = []
  }

  /// - Throws: `SensorError`, with the line that cannot be read. The caller discards the samples
  ///   that were written before.
  package func run(into samples: SampleWriter) throws -> Outcome {
    var rows = try Self.rows(request)
    guard let first = try rows.next() else { throw SensorError.noSamples(file: request.file) }
    guard !rows.channels.isEmpty else { throw SensorError.onlyTimes(file: request.file) }
    let shift: Int64
    // Calendar times do not show where the session begins.
    switch request.offset ?? (rows.unit == .date ? .start : .fixed(0)) {
    case .fixed(let offset): shift = offset
    case .start: shift = start &- first.time
    }
    let number: Int
    do {
      let name = request.name ?? request.formatName ?? request.defaultName
      number = try samples.add(
        name: request.name == nil ? samples.freeName(name) : name,
        kind: request.kind ?? request.formatName ?? name,
        unit: request.valueUnit.isEmpty ? rows.valueUnit : request.valueUnit,
        channels: rows.channels,
        source: String(request.file.split(separator: "/").last ?? ""))
    } catch let error as SampleError {
      throw SensorError.sample(file: request.file, place: nil, error.facts)
    }
    var next: SensorRow? = first
    // Both times are in range, or the sample was refused.
    var outcome = Outcome(times: first.time &+ shift...first.time &+ shift)
    while let row = next {
      try append(row, to: number, shift: shift, samples)
      outcome.count += 1
      outcome.times = outcome.times.lowerBound...max(outcome.times.upperBound, row.time &+ shift)
      if outcome.count % Self.reportRows == 0, !continues(outcome.count) {
        throw SensorError.interrupted
      }
      next = try rows.next()
    }
    do {
      try samples.finish()
    } catch let error as SampleError {
      throw SensorError.sample(file: request.file, place: "line \(first.line)", error.facts)
    }
    outcome.remarks = rows.remarks
    return outcome
  }

  private func append(
    _ row: SensorRow, to number: Int, shift: Int64, _ samples: SampleWriter
  ) throws {
    let (time, overflow) = row.time.addingReportingOverflow(shift)
    do {
      // Beyond 64 bits is beyond the range that a session has, and is refused as such.
      try samples.append(number, time: overflow ? .max : time, row.values)
    } catch let error as SampleError {
      throw SensorError.sample(file: request.file, place: "line \(row.line)", error.facts)
    }
  }

  /// The rows of a file, in its own times.
  package static func rows(_ request: SensorRequest) throws -> any SensorRows {
    switch request.format {
    case .csv: try CSVRows(request)
    case .jsonl: try JSONLineRows(request)
    case .gpx: try GPXRows(request)
    case .nmea: try NMEARows(request)
    case .srt: try SubtitleTelemetry.rows(request)
    }
  }
}
