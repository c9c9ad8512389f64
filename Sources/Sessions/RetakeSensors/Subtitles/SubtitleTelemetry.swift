import RetakeCore
package import RetakeMedia
package import RetakeStore

/// Reads the measurements that a drone writes as subtitles, one entry a frame or a second: in a text
/// track of its media file, or in a SubRip file next to it.
package struct SubtitleTelemetry {
  /// The usual name of the sensor, and its kind.
  static let name = "telemetry"
  private static let codecs: Set<String> = ["mov_text", "subrip", "text"]

  private let source: String

  /// - Parameter source: The source that the sensor records, such as a file name.
  package init(source: String) { self.source = source }

  /// The text tracks of a file, which may be telemetry.
  package static func streams(of all: [MediaStream]) -> [MediaStream] {
    all.filter { $0.kind == .subtitle && codecs.contains($0.codec) }
  }

  /// Whether a SubRip file is telemetry; false if it cannot be read.
  package static func isTelemetry(_ file: String) -> Bool {
    (try? SubtitleContent(of: SubtitleFile(file))) == .telemetry
  }

  /// The measurements in a SubRip file.
  ///
  /// - Throws: `SensorError`, also for subtitles that are speech.
  static func rows(_ request: SensorRequest) throws -> SubtitleRows {
    switch try SubtitleContent(of: SubtitleFile(request.file)) {
    case .telemetry: break
    case .speech(let line, let text):
      throw SensorError.notTelemetry(file: request.file, line: line, text: text)
    case .empty: throw SensorError.noSamples(file: request.file)
    }
    return try SubtitleRows(columns: request.columns, of: request.file) {
      guard let first = request.chapters.first else { return try SubtitleFile(request.file) }
      return try SubtitleChapters(first, then: request.chapters.dropFirst())
    }
  }

  /// Writes the measurements of a track as a sensor.
  ///
  /// - Parameter parts: The track in each file of the recording, in their order.
  /// - Returns: Remarks on omitted fields and entries; nil if the track is speech.
  /// - Throws: `SensorError`, with the packet and the byte that cannot be read.
  package func run(
    _ parts: [SensorPart], into samples: SampleWriter,
    continues: @escaping () -> Bool = { true }
  ) throws -> [String]? {
    guard let first = parts.first else { return nil }
    func entries() throws -> SubtitlePackets {
      try SubtitlePackets(first, then: parts.dropFirst(), continues: continues)
    }
    guard try SubtitleContent(of: entries()) == .telemetry else { return nil }
    var rows = try SubtitleRows(columns: [], of: first.file, entries)
    var packet = 0
    do {
      let number = try samples.add(
        name: samples.freeName(Self.name), kind: Self.name, unit: rows.valueUnit,
        channels: rows.channels, source: source)
      while let row = try rows.next() {
        packet = row.line
        try samples.append(number, time: row.time, row.values)
      }
      try samples.finish()
    } catch let error as SampleError {
      throw SensorError.sample(
        file: first.file, place: "packet \(packet) of the telemetry", error.facts)
    }
    return rows.remarks
  }
}
