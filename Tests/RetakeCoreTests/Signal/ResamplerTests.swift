import RetakeCore
import Testing

@Suite struct ResamplerTests {
  private let second: Int64 = 1_000_000_000

  private func resampler(rate: Int = 10, seconds: Int64 = 4) -> Resampler {
    Resampler(
      rate: rate, windowNanoseconds: seconds * second, gapNanoseconds: second / 2)
  }

  @Test func `even samples are kept as they are`() {
    var resampler = resampler()
    for index in 0..<20 { resampler.add([Double(index), 1], at: 7 + Int64(index) * second / 10) }
    #expect(resampler.channels == [(0..<20).map { Double($0) }, Array(repeating: 1, count: 20)])
    #expect(resampler.end == 7 + 19 * second / 10)
    #expect(resampler.beginning == .start)
  }

  @Test func `a ramp stays a ramp, whatever frames are missing or late`() {
    var resampler = resampler(rate: 30)
    var time: Int64 = 0
    for step in noise(200) {
      resampler.add([Double(time) / 1e9], at: time)
      time += Int64((step + 1.1) * 1e8)
    }
    let ramp = resampler.channels[0]
    #expect(ramp.count == 120)
    for index in ramp.indices.dropFirst() {
      #expect(abs(ramp[index] - ramp[index - 1] - 1.0 / 30) < 2e-9)
    }
  }

  @Test func `a sample that was given does not change, and the oldest leave`() {
    var resampler = resampler(rate: 10, seconds: 2)
    var given: [Int64: Double] = [:]
    for (index, value) in noise(300).enumerated() {
      resampler.add([value], at: Int64(index) * second / 24)
      let samples = resampler.channels[0]
      #expect(samples.count <= 20)
      for (place, sample) in samples.reversed().enumerated() {
        let time = (resampler.end ?? 0) - Int64(place) * second / 10
        #expect(given[time, default: sample] == sample)
        given[time] = sample
      }
    }
    #expect(given.count == 125)
  }

  @Test func `a gap ends the window, and the window says how long it was`() {
    var resampler = resampler()
    for index in 0..<10 { resampler.add([1], at: Int64(index) * second / 10) }
    resampler.add([2], at: 14 * second / 10)
    #expect(resampler.channels[0].count == 15)
    resampler.add([3], at: 14 * second / 10 + second / 2 + 1)
    #expect(resampler.channels == [[3]])
    #expect(resampler.beginning == .gap(nanoseconds: second / 2 + 1))
    // When the window has moved past the gap, it begins where it begins.
    for index in 1..<60 { resampler.add([3], at: 20 * second / 10 + Int64(index) * second / 10) }
    #expect(resampler.beginning == .start)
  }

  @Test func `what is not a number is missing, and for too long is a gap`() {
    var resampler = resampler()
    resampler.add([.nan], at: 0)
    #expect(resampler.channels.isEmpty && resampler.end == nil)
    resampler.add([1], at: second)
    resampler.add([.infinity], at: second + second / 10)
    resampler.add([1], at: second + second / 5)
    #expect(resampler.channels == [[1, 1, 1]])
    resampler.add([.nan], at: 2 * second)
    #expect(resampler.channels == [[]])
    #expect(resampler.end == nil)
    resampler.add([4], at: 3 * second)
    #expect(resampler.channels == [[4]])
    #expect(resampler.beginning == .gap(nanoseconds: 3 * second - second - second / 5))
  }

  @Test func `a time that goes back begins a window, and one that is repeated counts once`() {
    var resampler = resampler()
    resampler.add([1], at: second)
    resampler.add([2], at: second)
    #expect(resampler.channels == [[1]])
    resampler.add([3], at: second - 5)
    #expect(resampler.channels == [[3]])
    #expect(resampler.beginning == .earlier(nanoseconds: 5))
  }

  @Test func `times at the ends of 64 bits do no harm`() {
    var resampler = resampler()
    for time in [Int64.min, .max, -1 << 61, 1 << 61, 0] { resampler.add([1], at: time) }
    #expect(resampler.channels == [[1]])
    #expect(resampler.beginning == .earlier(nanoseconds: 1 << 61))
  }

  @Test func `another number of channels begins another signal`() {
    var resampler = resampler()
    resampler.add([1], at: 0)
    resampler.add([1, 2], at: second / 10)
    #expect(resampler.channels == [[1], [2]])
    #expect(resampler.beginning == .start)
  }
}
