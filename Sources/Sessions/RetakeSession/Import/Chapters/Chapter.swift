import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors

/// One media file of a recording that several files hold, one after another.
struct Chapter: Sendable {
  /// The path that errors name.
  let source: String
  let file: MediaFile
  /// The streams that become tracks, in the order of the tracks.
  let streams: [MediaStream]
  var findings: PacketIndexer.Findings
  /// FFmpeg's name of the container.
  let format: String
  /// The time code of the first frame.
  let timecode: String?
  /// When the file was begun or finished, in nanoseconds since 1970; cameras differ.
  let created: Int64?
  let telemetry: TelemetryCounts?

  /// - Parameters:
  ///   - source: The file that the user named, if `file` is a copy of it.
  ///   - report: Called with the number of packets done; false stops.
  init(
    source: String, file: MediaFile, streams: [MediaStream], report: @escaping (Int) -> Bool
  ) throws {
    let demuxer = try MediaDemuxer(path: file.path)
    (self.source, self.file, self.streams) = (source, file, streams)
    format = demuxer.format
    timecode =
      demuxer.tag("timecode")
      ?? demuxer.streams.lazy.compactMap { demuxer.tag("timecode", of: $0.index) }.first
    created = (demuxer.tag("creation_time") ?? demuxer.tag("date"))
      .flatMap { SensorTime.parse($0, .date) }
    telemetry = TelemetryImport.streams(of: demuxer.streams).first.flatMap {
      TelemetryCounts(path: file.path, stream: $0)
    }
    findings = try PacketIndexer(file: file, streams: streams, report: report).run()
  }

  var name: String { URL(fileURLWithPath: source).lastPathComponent }

  func packets(_ track: Int) -> PacketList {
    findings.packets[streams[track].index] ?? PacketList()
  }
}
