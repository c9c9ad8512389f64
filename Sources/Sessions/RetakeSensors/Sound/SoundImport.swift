import RetakeCore
package import RetakeMedia
package import RetakeStore

/// Makes a sensor of a file's sound: its waveform in steps of 10 ms.
package struct SoundImport {
  private let path: String
  private let file: String
  private let shift: Int64

  /// - Parameters:
  ///   - path: The file that is read.
  ///   - file: The path that errors name.
  ///   - shift: Nanoseconds that are subtracted from each time.
  package init(path: String, file: String, shift: Int64 = 0) {
    (self.path, self.file, self.shift) = (path, file, shift)
  }

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
    _ stream: MediaStream, into samples: SampleWriter, continues: () -> Bool = { true }
  ) throws -> Outcome {
    let reader: AudioReader
    do {
      reader = try AudioReader(path: path, stream: stream.index, precision: .integers)
    } catch let error as MediaError {
      return .unreadable(cause: error.message)
    }
    var (waveform, number, problem) = (SoundWaveform(), Int?.none, String?.none)
    func write(_ step: SoundWaveform.Step) throws {
      if number == nil { number = try add(stream, to: samples) }
      guard let number else { return }
      do {
        try samples.append(number, time: step.nanoseconds, step.values)
      } catch let error as SampleError {
        throw SensorError.sample(file: file, place: Self.source(stream), error.facts)
      }
    }
    // Ends: each round reads a part of a finite file.
    while let part = try Self.next(reader, &problem) {
      guard continues() else { throw SensorError.interrupted }
      try waveform.take(moved(part), write)
    }
    try waveform.finish(write)
    guard number != nil else { return .unreadable(cause: problem ?? "it has no samples") }
    do {
      try samples.finish()
    } catch let error as SampleError {
      throw SensorError.sample(file: file, place: Self.source(stream), error.facts)
    }
    if reader.damagedCount > 0, problem == nil {
      problem = "\(reader.damagedCount) of its packets cannot be decoded"
    }
    return .sensor(note: problem)
  }

  private func moved(_ part: AudioReader.Levels) -> AudioReader.Levels {
    guard shift != 0 else { return part }
    var part = part
    part.start = part.start.flatMap {
      let (time, overflow) = $0.nanoseconds.subtractingReportingOverflow(shift)
      return overflow ? nil : Timestamp(nanoseconds: time)
    }
    return part
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

  private func add(
    _ stream: MediaStream, to samples: SampleWriter
  ) throws -> Int {
    do {
      return try samples.add(
        name: samples.freeName("sound"), kind: "sound", channels: SoundWaveform.channels,
        source: Self.source(stream))
    } catch let error as SampleError {
      throw SensorError.sample(file: file, place: Self.source(stream), error.facts)
    }
  }
}
