import Foundation
import RetakeCore
import RetakeMedia
import RetakeSensors
import RetakeStore

/// The sensors of an import: the camera's telemetry, the named files, then the sound.
struct SensorImporting {
  let options: ImportOptions
  let report: @Sendable (ImportProgress) -> Bool

  /// The source that the sensors record.
  private var source: String { URL(fileURLWithPath: options.file).lastPathComponent }

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

  /// A media file in the session that is being built.
  struct File {
    var path: String
    /// The path that errors name.
    var source: String
    var streams: [MediaStream]
    /// Nanoseconds that are subtracted from each time of the file.
    var shift: Int64 = 0
    /// See `SensorPart.start`.
    var start: Int64?
    /// See `SensorPart.continues`.
    var continues = false

    fileprivate func part(_ stream: MediaStream) -> SensorPart {
      SensorPart(
        path: path, file: source, stream: stream, shift: shift, start: start, continues: continues)
    }
  }

  /// - Parameters:
  ///   - files: In the order of the recording.
  ///   - frames: The times of the first and the last frame.
  func run(
    _ requests: [SensorRequest], _ files: [File], frames: ClosedRange<Int64>,
    into samples: SampleWriter
  ) throws -> Outcome {
    var outcome = Outcome()
    let telemetry = options.hasTelemetry ? Self.parts(of: files, TelemetryImport.streams) : []
    let sound = options.hasSound ? Self.parts(of: files, SoundImport.streams) : []
    do {
      for parts in telemetry {
        try TelemetryImport(source: source).run(parts, into: samples) { report(progress(samples)) }
        if !samples.tracks.isEmpty { outcome.read.insert(parts[0].stream.index) }
      }
      if options.hasTelemetry {
        try readSubtitles(files, into: samples, &outcome)
        outcome.notes += neighbors(requests)
      }
      for request in Self.joined(requests, files) {
        let found = try SensorFileImport(request, start: frames.lowerBound) { _ in
          report(progress(samples))
        }.run(into: samples)
        outcome.notes += found.remarks.map { "\(request.file): \($0)" }
        guard !found.times.overlaps(frames) else { continue }
        outcome.notes.append(Self.apart(request.file, found.times, frames))
      }
      for parts in sound {
        let found = try SoundImport(parts).run(into: samples) { report(progress(samples)) }
        take(found, of: parts[0].stream, &outcome)
      }
    } catch SensorError.interrupted {
      throw SessionError.interrupted
    }
    return outcome
  }

  /// Subtitles of several chapters become one request, in the place of their first.
  ///
  /// A file belongs to the chapter of its name (`DJI_0001.SRT`, `DJI_0001.MP4`); without such names,
  /// files of the same number as the chapters belong to them in their order. A file with an option
  /// of its own is a sensor of its own.
  private static func joined(_ requests: [SensorRequest], _ files: [File]) -> [SensorRequest] {
    let subtitles = requests.indices.filter {
      requests[$0].format == .srt && requests[$0].offset == nil && requests[$0].name == nil
    }
    guard files.count > 1, let first = subtitles.first,
      subtitles.allSatisfy({ requests[$0].isLike(requests[first]) })
    else { return requests }
    func stem(_ path: String) -> String {
      URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent.lowercased()
    }
    var places = subtitles.map { number in
      files.firstIndex { stem($0.source) == stem(requests[number].file) }
    }
    if places.allSatisfy({ $0 == nil }), places.count == files.count {
      places = files.indices.map { $0 }
    }
    let pairs = zip(places, subtitles).compactMap { place, number in place.map { ($0, number) } }
    guard !pairs.isEmpty, Set(pairs.map(\.0)).count == pairs.count, pairs.count == places.count
    else { return requests }
    let ordered = pairs.sorted { $0.0 < $1.0 }
    var joined = requests
    joined[first].file = requests[ordered[0].1].file
    joined[first].chapters = ordered.map { place, number in
      SubtitleChapter(
        file: requests[number].file, shift: files[place].shift, start: files[place].start)
    }
    for number in subtitles.dropFirst().reversed() { joined.remove(at: number) }
    return joined
  }

  /// The streams that continue one another: the first of each file, then the second.
  private static func parts(
    of files: [File], _ streams: ([MediaStream]) -> [MediaStream]
  ) -> [[SensorPart]] {
    let found = files.map { file in streams(file.streams).map { file.part($0) } }
    return (0..<(found.map(\.count).max() ?? 0)).map { place in
      found.compactMap { $0.indices.contains(place) ? $0[place] : nil }
    }
  }

  /// The measurements that a drone stores as a text track.
  private func readSubtitles(
    _ files: [File], into samples: SampleWriter, _ outcome: inout Outcome
  ) throws {
    for parts in Self.parts(of: files, SubtitleTelemetry.streams) {
      let remarks = try SubtitleTelemetry(source: source)
        .run(parts, into: samples) { report(progress(samples)) }
      guard let remarks else { continue }
      let stream = parts[0].stream.index
      outcome.read.insert(stream)
      outcome.notes += remarks.map { "telemetry of stream \(stream): \($0)" }
    }
  }

  /// A note of telemetry next to the videos that was not requested: `DJI_0001.SRT`.
  private func neighbors(_ requests: [SensorRequest]) -> [String] {
    func isRequested(_ file: String) -> Bool {
      requests.contains {
        URL(fileURLWithPath: $0.file).resolvingSymlinksInPath()
          == URL(fileURLWithPath: file).resolvingSymlinksInPath()
      }
    }
    func stem(_ video: String) -> String { NSString(string: video).deletingPathExtension }
    let found = options.files.flatMap { video in
      ["\(stem(video)).srt", "\(stem(video)).SRT"].filter(SubtitleTelemetry.isTelemetry)
    }
    let missing = found.filter { !isRequested($0) }
    guard !missing.isEmpty else { return [] }
    // This session has the video's name.
    let video = NSString(string: stem(options.file)).lastPathComponent
    let name = (try? SessionFolder.sanitized(name: video)) ?? ""
    return [
      missing.joined(separator: ", ")
        + (missing.count == 1 ? " has telemetry of this video" : " have telemetry of these videos")
        + ", which was not imported: retake import "
        + options.files.map(\.shellWord).joined(separator: " ")
        + (options.files.count > 1 ? " --append" : "")
        + (options.overlap == .once ? " --overlap once" : "")
        + found.map { " --sensor \($0.shellWord)" }.joined() + " --name \(name)-telemetry"
    ]
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
