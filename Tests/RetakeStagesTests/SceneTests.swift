import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct SceneTests {
  private func scene(
    _ kind: SceneKind, width: Int = 64, height: Int = 48, frames: Int = 30, seed: Int = 1
  ) throws -> SyntheticScene {
    try SyntheticScene(
      SyntheticOptions(scene: kind, width: width, height: height, frames: frames, seed: seed))
  }

  private func frame(_ scene: SyntheticScene, _ sequence: Int) throws -> Frame {
    try scene.frame(FrameID(track: 0, sequence: sequence))
  }

  @Test func `scenes have the same bytes on every machine`() throws {
    for (kind, digest) in [
      (SceneKind.figures, "1ce1c986d34846941c21df7b57e1c5d2"),
      (.pulse, "9a92f9b2b086f0a7db1861397986cca9"), (.cut, "d8631c8ed290c6ec4b05a7ef540bf811"),
    ] {
      var hasher = DigestHasher()
      for sequence in [0, 7, 29] {
        hasher.append(try frame(scene(kind, width: 70, height: 50), sequence).digest)
      }
      #expect(hasher.finish().description == digest, "\(kind)")
    }
  }

  @Test func `a frame does not depend on what was read before`() throws {
    for kind in SceneKind.allCases {
      let forwards = try scene(kind)
      let first = try (0..<30).map { try frame(forwards, $0).digest }
      let backwards = try scene(kind)
      let again = try (0..<30).reversed().map { try frame(backwards, $0).digest }
      #expect(again.reversed() == first)
      #expect(Set(first).count == 30)
    }
  }

  @Test func `another seed gives other noise`() throws {
    for kind in SceneKind.allCases {
      #expect(try frame(scene(kind, seed: 1), 3).digest != frame(scene(kind, seed: 2), 3).digest)
    }
  }

  @Test func `the noise of a camera stays below the motion threshold and above nothing`() throws {
    let one = try frame(scene(.figures, seed: 1), 0).bytes(of: 0)
    let two = try frame(scene(.figures, seed: 2), 0).bytes(of: 0)
    let steps = zip(one, two).map { abs(Int($0) - Int($1)) }
    #expect((steps.max() ?? 0) <= 8)
    #expect(steps.count { $0 > 0 } > steps.count / 2)
  }

  @Test func `odd sizes and every kind are drawn whole`() throws {
    for kind in SceneKind.allCases {
      let drawn = try frame(scene(kind, width: 33, height: 17), 29)
      #expect(drawn.bytes(of: 0).count == 33 * 17)
      #expect(drawn.bytes(of: 1).count == 17 * 9)
      #expect(drawn.bytes(of: 0).allSatisfy { $0 >= 12 && $0 <= 239 })
    }
  }

  @Test func `even scenes have one frame an interval`() throws {
    let scene = try scene(.figures)
    #expect(scene.pts == (0..<30).map { Int64($0) })
    #expect(scene.timeBase == TimeBase(1, 30))
    #expect((scene.cutSequence, scene.gapSequence) == (nil, nil))
    #expect(
      scene.entries(of: 0, sequences: 3..<4).map(\.timestamp.nanoseconds) == [100_000_000])
  }

  @Test func `the cut scene varies its rate, cuts and has a gap`() throws {
    let scene = try scene(.cut, frames: 100)
    let steps = zip(scene.pts.dropFirst(), scene.pts).map { $0 - $1 }
    #expect((scene.cutSequence, scene.gapSequence) == (40, 70))
    #expect(steps.prefix(38).allSatisfy { $0 == 3_000 })
    #expect(Set(steps[40..<69]).count > 10)
    #expect(steps[40..<69].allSatisfy { (2_700...6_300).contains($0) })
    #expect((180_000...190_000).contains(steps[69]))
    #expect(steps.count { $0 > 7_000 } == 1)

    let before = try frame(scene, 39).bytes(of: 0)
    let after = try frame(scene, 40).bytes(of: 0)
    #expect(zip(before, after).count { abs(Int($0) - Int($1)) >= 24 } > before.count / 2)
  }

  @Test func `even a very short cut scene has rising times`() throws {
    for frames in 1...12 {
      let pts = try scene(.cut, frames: frames).pts
      #expect(pts.count == frames)
      #expect(zip(pts, pts.dropFirst()).allSatisfy(<))
    }
  }

  @Test func `the figures leave and come back`() throws {
    let scene = try scene(.figures, width: 160, height: 120, frames: 300)
    let empty = try frame(scene, 130).bytes(of: 0)
    let there = try frame(scene, 230).bytes(of: 0)
    #expect(zip(empty, there).count { abs(Int($0) - Int($1)) >= 24 } > 500)
  }

  @Test func `the fingertip shows the pulse that it is said to have`() throws {
    let scene = try scene(.pulse, width: 64, height: 48, frames: 300)
    let fingertip = try Fingertip(options: FingertipOptions())
    let red = try (0..<300).map {
      try fingertip.process(frame(scene, $0), anyContext).entries[0].value
    }
    let strongest = (40...200).max { power(red, perMinute: $0) < power(red, perMinute: $1) }
    #expect(scene.pulseBeatsPerMinute == 72)
    #expect(abs((strongest ?? 0) - 72) <= 2)
  }

  /// The strength of one frequency in a signal of 30 samples per second, with drift removed by
  /// differences.
  private func power(_ signal: [Double], perMinute: Int) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for index in 1..<signal.count {
      let turn = SIMD2(cosine(index * perMinute), cosine(index * perMinute - 450))
      let step = signal[index] - signal[index - 1]
      real += step * turn.x
      imaginary += step * turn.y
    }
    return real * real + imaginary * imaginary
  }

  /// The cosine of an angle in units of 1/1,800 turn, by its series.
  private func cosine(_ angle: Int) -> Double {
    let x = Double(angle % 1_800) / 1_800 * 2 * .pi
    let y = abs(x) > .pi ? abs(x) - 2 * .pi : x
    return (1...12).reversed().reduce(1.0) { 1 - $0 * y * y / Double((2 * $1 - 1) * 2 * $1) }
  }

  @Test func `options out of their bounds are named`() {
    for (key, change) in [
      ("width", { $0.width = 15 }), ("height", { $0.height = 4_097 }), ("fps", { $0.fps = 0 }),
      ("frames", { $0.frames = 0 }), ("seed", { $0.seed = -1 }),
      ("beatsPerMinute", { $0.beatsPerMinute = 241 }),
    ] as [(String, (inout SyntheticOptions) -> Void)] {
      var options = SyntheticOptions()
      change(&options)
      let error = #expect(throws: OptionError.self) { try SyntheticScene(options) }
      #expect(error?.key == key)
    }
  }
}
