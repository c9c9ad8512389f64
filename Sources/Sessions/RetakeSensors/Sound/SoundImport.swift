import Foundation
import RetakeCore
package import RetakeMedia
package import RetakeStore

/// Makes a sensor of a file's sound: its waveform in steps of 10 ms.
package struct SoundImport {
  /// The stream in each file of the recording, in their order.
  private let parts: [SensorPart]

  package init(_ parts: [SensorPart]) { self.parts = parts }

  /// The result of reading a stream.
  package enum Outcome: Hashable, Sendable {
    /// It is a sensor; the note describes missing sound, if any.
    case sensor(note: String?)
    /// It did not become a sensor, and why.
    case unreadable(cause: String)
  }

  /// The streams of a file that have sound.
  package static func streams(of all: [MediaStream]) -> [MediaStream] {
    all.filter { $0.kind == .audio }
  }

  /// The source of a stream's samples. Without the file's name, so that an index that is made again
  /// from the media is the same.
  private static func source(_ stream: MediaStream) -> String { "stream \(stream.index)" }

  /// Frames are worth having without their sound, so undecodable sound does not end the import.
  ///
  /// - Throws: `SensorError` if samples cannot be stored, and if the import is stopped.
  package func run(
    into samples: SampleWriter, continues: () -> Bool = { true }
  ) throws -> Outcome {
    var (waveform, number, problems) = (SoundWaveform(), Int?.none, [String]())
    for part in parts {
      guard let problem = try read(part, &waveform, &number, into: samples, continues) else {
        continue
      }
      problems.append(
        parts.count == 1
          ? problem : "\(URL(fileURLWithPath: part.file).lastPathComponent): \(problem)")
    }
    guard let first = parts.first else { return .unreadable(cause: "there is no file") }
    try waveform.finish { try write($0, of: first, &number, to: samples) }
    let problem = problems.isEmpty ? nil : problems.joined(separator: "; ")
    guard number != nil else { return .unreadable(cause: problem ?? "it has no samples") }
    do {
      try samples.finish()
    } catch let error as SampleError {
      throw SensorError.sample(file: first.file, place: Self.source(first.stream), error.facts)
    }
    return .sensor(note: problem)
  }

  /// Reads the sound of one file.
  ///
  /// - Returns: the problem of the sound, if any.
  private func read(
    _ part: SensorPart, _ waveform: inout SoundWaveform, _ number: inout Int?,
    into samples: SampleWriter, _ continues: () -> Bool
  ) throws -> String? {
    let reader: AudioReader
    do {
      reader = try AudioReader(path: part.path, stream: part.stream.index, precision: .integers)
    } catch let error as MediaError {
      return error.message
    }
    var problem: String?
    // Ends: each round reads a part of a finite file.
    while let levels = try Self.next(reader, &problem) {
      guard continues() else { throw SensorError.interrupted }
      try waveform.take(Self.moved(levels, by: part.shift)) {
        try write($0, of: part, &number, to: samples)
      }
    }
    if reader.damagedCount > 0, problem == nil {
      problem = "\(reader.damagedCount) of its packets cannot be decoded"
    }
    return problem
  }

  private func write(
    _ step: SoundWaveform.Step, of part: SensorPart, _ number: inout Int?, to samples: SampleWriter
  ) throws {
    do {
      let sensor =
        try number
        ?? samples.add(
          name: samples.freeName("sound"), kind: "sound", channels: SoundWaveform.channels,
          source: Self.source(parts[0].stream))
      number = sensor
      try samples.append(sensor, time: step.nanoseconds, step.values)
    } catch let error as SampleError {
      throw SensorError.sample(file: part.file, place: Self.source(part.stream), error.facts)
    }
  }

  private static func moved(_ levels: AudioReader.Levels, by shift: Int64) -> AudioReader.Levels {
    guard shift != 0 else { return levels }
    var levels = levels
    levels.start = levels.start.flatMap {
      let (time, overflow) = $0.nanoseconds.subtractingReportingOverflow(shift)
      return overflow ? nil : Timestamp(nanoseconds: time)
    }
    return levels
  }

  private static func next(
    _ reader: AudioReader, _ problem: inout String?
  ) throws -> AudioReader.Levels? {
    do {
      return try reader.nextLevels()
    } catch let error as MediaError {
      problem = "its end cannot be decoded: \(error.cause ?? error.message)"
      return nil
    }
  }
}
