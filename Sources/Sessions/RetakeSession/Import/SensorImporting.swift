import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors
import RetakeStore

/// The sensors of an import: the camera's telemetry, the named files, then the sound.
struct SensorImporting {
  let options: ImportOptions
  let report: @Sendable (ImportProgress) -> Bool

  /// Parsed before the first write, so that a mistyped option leaves no file.
  static func requests(_ texts: [String]) throws -> [SensorRequest] {
    try texts.map { try SensorRequest(parsing: $0) }
  }

  /// The streams that were read as sensors, and remarks about the import.
  struct Outcome {
    /// The streams that are sensors now.
    var read: Set<Int> = []
    var notes: [String] = []
  }

  /// - Parameters:
  ///   - path: The media file in the session that is being built.
  ///   - frames: The times of the first and the last frame.
  ///   - shift: How far the file's times were moved back.
  func run(
    _ requests: [SensorRequest], streams: [MediaStream], of path: String,
    frames: ClosedRange<Int64>, shift: TimeShift = .none, into samples: SampleWriter
  ) throws -> Outcome {
    var outcome = Outcome()
    let telemetry = options.hasTelemetry ? TelemetryImport.streams(of: streams) : []
    let sound = options.hasSound ? SoundImport.streams(of: streams) : []
    do {
      for stream in telemetry {
        let source = URL(fileURLWithPath: options.file).lastPathComponent
        try TelemetryImport(path: path, file: options.file, source: source, shift: shift.clamped)
          .run(stream, into: samples) { report(progress(samples)) }
        if !samples.tracks.isEmpty { outcome.read.insert(stream.index) }
      }
      for request in requests {
        let found = try SensorFileImport(request, start: frames.lowerBound) { _ in
          report(progress(samples))
        }.run(into: samples)
        outcome.notes += found.remarks.map { "\(request.file): \($0)" }
        guard !found.times.overlaps(frames) else { continue }
        outcome.notes.append(Self.apart(request.file, found.times, frames))
      }
      for stream in sound {
        let found = try SoundImport(path: path, file: options.file, shift: shift.clamped)
          .run(stream, into: samples) { report(progress(samples)) }
        take(found, of: stream, &outcome)
      }
    } catch SensorError.interrupted {
      throw SessionError.interrupted
    }
    return outcome
  }

  private static func apart(
    _ file: String, _ samples: ClosedRange<Int64>, _ frames: ClosedRange<Int64>
  ) -> String {
    func text(_ times: ClosedRange<Int64>) -> String {
      "from \(Duration.nanoseconds(times.lowerBound).roundedText) to "
        + Duration.nanoseconds(times.upperBound).roundedText
    }
    return "\(file): its samples are \(text(samples)), and the frames \(text(frames)). Check the "
      + "unit and the offset"
  }

  private func take(
    _ found: SoundImport.Outcome, of stream: MediaStream, _ outcome: inout Outcome
  ) {
    switch found {
    case .sensor(let note):
      outcome.read.insert(stream.index)
      if let note { outcome.notes.append("sound of stream \(stream.index): \(note)") }
    case .unreadable(let cause):
      outcome.notes.append(
        "the sound of stream \(stream.index) (\(stream.codec)) is not imported: \(cause)")
    }
  }

  private func progress(_ samples: SampleWriter) -> ImportProgress {
    let done = samples.tracks.reduce(0) { $0 + $1.sampleCount }
    return ImportProgress(phase: .sensors, done: done, total: nil)
  }
}
