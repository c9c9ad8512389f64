import RetakeCore
import RetakeMedia
import Testing

@testable import RetakeSensors

/// Sound in steps of 10 ms.
@Suite struct SoundWaveformTests {
  private func levels(
    _ start: Int64?, rate: Int = 1_000, channels: Int = 1, _ samples: [Int16]
  ) -> AudioReader.Levels {
    AudioReader.Levels(
      start: start.map { Timestamp(nanoseconds: $0) }, rate: rate, channels: channels,
      samples: samples)
  }

  private func steps(_ parts: [AudioReader.Levels]) throws -> [SoundWaveform.Step] {
    var (waveform, steps) = (SoundWaveform(), [SoundWaveform.Step]())
    for part in parts { try waveform.take(part) { steps.append($0) } }
    try waveform.finish { steps.append($0) }
    return steps
  }

  private func times(_ parts: [AudioReader.Levels]) throws -> [Int64] {
    try steps(parts).map { $0.nanoseconds / 1_000_000 }
  }

  @Test func `a step has the least, the greatest and the RMS of all channels`() throws {
    let quiet = [Int16](repeating: 3, count: 14)
    let found = try steps([levels(5_000_000, channels: 2, [-32_768, 4, 0, 0, 0, 5] + quiet)])
    let squares = 1_073_741_824.0 + 16 + 25 + 14 * 9
    #expect(
      found == [
        SoundWaveform.Step(
          nanoseconds: 15_000_000,
          values: [-1, 5 / 32_768.0, (squares / 20).squareRoot() / 32_768])
      ])
  }

  @Test func `a step ends 10 ms after its beginning, and the last one with the sound`() throws {
    let sound = [Int16](repeating: 1, count: 25)
    #expect(try times([levels(100_000_000, sound)]) == [110, 120, 125])
    // However the sound is cut into parts.
    let parts = [
      levels(100_000_000, Array(sound.prefix(13))), levels(nil, Array(sound.suffix(12))),
    ]
    #expect(try steps(parts) == steps([levels(100_000_000, sound)]))
  }

  @Test func `a rate that is no multiple of 100 has steps of nearly equal length`() throws {
    let found = try steps([levels(0, rate: 11_025, [Int16](repeating: 1, count: 11_025))])
    #expect(found.map(\.nanoseconds) == (1...100).map { $0 * 10_000_000 })
  }

  @Test func `a gap of more than 10 ms begins a new stretch, less is rounding`() throws {
    let sound = [Int16](repeating: 1, count: 15)
    #expect(try times([levels(0, sound), levels(24_000_000, sound)]) == [10, 20, 30])
    #expect(try times([levels(0, sound), levels(26_000_000, sound)]) == [10, 15, 36, 41])
    // The file has sound for 5 to 15 ms twice.
    #expect(try times([levels(0, sound), levels(4_000_000, sound)]) == [10, 15, 19])
    let back = [levels(0, sound), levels(-90_000_000, sound), levels(nil, sound)]
    #expect(try times(back) == [10, 15, 25, 30])
  }

  @Test func `another rate begins a new stretch, and absurd times are left out`() throws {
    let sound = [Int16](repeating: 1, count: 15)
    #expect(try times([levels(0, sound), levels(nil, rate: 1_500, sound)]) == [10, 15, 25])
    #expect(try times([levels(.max, sound), levels(.min, sound), levels(0, sound)]) == [10, 15])
    #expect(try times([levels(0, rate: 10, sound), levels(0, channels: 0, sound)]) == [])
  }
}
