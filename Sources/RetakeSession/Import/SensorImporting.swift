import Foundation
import RetakeMedia
import RetakeSensors
import RetakeStore

/// The sensors of an import: what the camera measured, then the files that were named.
struct SensorImporting {
  let options: ImportOptions
  let report: @Sendable (ImportProgress) -> Bool

  /// Read before anything is written, so that a mistyped option leaves nothing.
  static func requests(_ texts: [String]) throws(SessionError) -> [SensorRequest] {
    var requests: [SensorRequest] = []
    for text in texts {
      do throws(SensorError) {
        requests.append(try SensorRequest(parsing: text))
      } catch {
        throw SessionError(error)
      }
    }
    return requests
  }

  /// - Parameters:
  ///   - path: The media file in the session that is being built.
  ///   - start: The time of the first frame.
  func run(
    _ requests: [SensorRequest], streams: [MediaStream], of path: String, start: Int64,
    into samples: SampleWriter
  ) throws(SessionError) {
    let telemetry = options.hasTelemetry ? TelemetryImport.streams(of: streams) : []
    guard !telemetry.isEmpty || !requests.isEmpty else { return }
    do throws(SensorError) {
      for stream in telemetry {
        let source = URL(fileURLWithPath: options.file).lastPathComponent
        try TelemetryImport(path: path, file: options.file, source: source)
          .run(stream, into: samples) { report(progress(samples)) }
      }
      for request in requests {
        _ = try SensorFileImport(request, start: start) { _ in report(progress(samples)) }
          .run(into: samples)
      }
    } catch {
      throw SessionError(error)
    }
  }

  private func progress(_ samples: SampleWriter) -> ImportProgress {
    let done = samples.tracks.reduce(0) { $0 + $1.sampleCount }
    return ImportProgress(phase: .sensors, done: done, total: nil)
  }
}
