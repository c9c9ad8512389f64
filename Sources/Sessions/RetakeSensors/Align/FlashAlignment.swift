/// Finds how the clocks of two recordings relate, from lights that both saw go on and off.
///
/// A light changes at some time within a frame, and the frame's brightness says when: the more of
/// the exposure was bright, the earlier it was. Cameras that expose only for a part of the time
/// between frames miss some changes, and a missed change has bounds only; the share of missed
/// changes tells the exposure time.
package struct FlashAlignment {
  /// The mean brightness of a frame, and its time in seconds.
  package struct Level: Hashable, Sendable {
    package var time: Double
    package var brightness: Double

    package init(time: Double, brightness: Double) {
      (self.time, self.brightness) = (time, brightness)
    }
  }

  private let first: Steps
  private let second: Steps

  /// The light changes of one recording.
  struct Steps: Hashable {
    var steps: [LightStep]
    /// The part of a frame's length that is exposed.
    var exposure: FlashRefinement.Exposure

    func time(_ place: Int) -> Double { steps[place].time(exposure.part) }
  }

  /// More steps than a scene with flashes has.
  private static let stepsMax = 2_000
  /// How many levels of 255 a light changes at least.
  private static let changeMin = 6.0
  private static let binSeconds = 0.02
  /// How far pairs may be from the likeliest difference: a drift of 200 ppm over five minutes.
  private static let reachSeconds = 0.06
  private static let tolerances = [0.02, 0.006]

  /// - Parameters: The frames of both recordings in the order of their times.
  package init(_ first: [Level], _ second: [Level]) {
    (self.first, self.second) = (Self.steps(first), Self.steps(second))
  }

  /// - Returns: nil if no changes agree.
  package func fit() -> ClockFit? {
    guard let vote = likeliestDifference() else { return nil }
    var pairs = pairs(around: { _ in vote.difference }, reach: Self.reachSeconds).map(clockPair)
    var fit: ClockFit?
    // Once roughly, and once with the pairs that are near that line.
    for tolerance in Self.tolerances {
      guard let found = ClockFit.fitted(pairs, tolerance: tolerance) else { break }
      fit = found
      pairs = self.pairs(around: { found.difference(at: $0) }, reach: tolerance).map(clockPair)
    }
    guard var fit else { return nil }
    if let better = refined(fit) { fit = better }
    let possible = Double(max(1, min(first.steps.count, second.steps.count)))
    fit.confidence = min(1, Double(fit.observations) / possible) * vote.clearness
    return fit
  }

  /// The difference of the times of most steps, and how much more often it occurs than any other.
  private func likeliestDifference() -> (difference: Double, clearness: Double)? {
    var votes: [Int: Int] = [:]
    for (place, a) in first.steps.enumerated() {
      for (other, b) in second.steps.enumerated() where a.rises == b.rises {
        let difference = first.time(place) - second.time(other)
        votes[Int((difference / Self.binSeconds).rounded()), default: 0] += 1
      }
    }
    // A difference may be between two bins. Sorted, so that equal sums lead to the same bin each
    // time.
    let sums = votes.keys.sorted().map { bin in
      (bin: bin, count: (bin - 1...bin + 1).reduce(0) { $0 + (votes[$1] ?? 0) })
    }
    guard let best = sums.max(by: { $0.count < $1.count }), best.count >= 3 else { return nil }
    let other = sums.filter { abs($0.bin - best.bin) > 4 }.map(\.count).max() ?? 0
    return (
      Double(best.bin) * Self.binSeconds, 1 - min(1, Double(other) / Double(best.count))
    )
  }

  /// Each step of the second recording with the nearest one of the first, by their places.
  private func pairs(
    around difference: (Double) -> Double, reach: Double
  ) -> [(first: Int, second: Int)] {
    second.steps.indices.compactMap { place in
      let time = second.time(place)
      let expected = time + difference(time)
      let near = first.steps.indices.filter {
        first.steps[$0].rises == second.steps[place].rises
          && abs(first.time($0) - expected) <= reach
      }.min { abs(first.time($0) - expected) < abs(first.time($1) - expected) }
      return near.map { ($0, place) }
    }
  }

  private func clockPair(_ pair: (first: Int, second: Int)) -> ClockPair {
    ClockPair(first: first.time(pair.first), second: second.time(pair.second))
  }

  /// The line with the information that each pair carries.
  private func refined(_ fit: ClockFit) -> ClockFit? {
    let near = pairs(around: { fit.difference(at: $0) }, reach: Self.tolerances[0])
    let refinement = FlashRefinement(
      pairs: near.map { (first.steps[$0.first], second.steps[$0.second]) },
      exposures: (first.exposure, second.exposure))
    let rough = (Double(fit.offsetNanoseconds) / 1e9, fit.driftPPM / 1e6)
    guard let line = refinement.line(from: rough), abs(line.slope - rough.1) < Self.slopeChangeMax,
      let nanoseconds = Int64(exactly: (line.offset * 1e9).rounded())
    else { return nil }
    return ClockFit(
      offsetNanoseconds: nanoseconds, driftPPM: line.slope * 1e6, confidence: fit.confidence,
      observations: max(fit.observations, line.agreeing))
  }

  /// A line that is so far from the rough one was found from too little.
  private static let slopeChangeMax = 0.001

  // MARK: Steps of one recording

  static func steps(_ levels: [Level]) -> Steps {
    let found = Array(changes(levels).prefix(stepsMax))
    let exposed = found.count { (0.03...0.97).contains($0.part) }
    // A light that changes at any time falls into the exposure as often as the exposure is long.
    // Changes in the exposure with a part near 0 or 1 look like changes outside.
    let share = Double(exposed) / Double(max(1, found.count)) / 0.94
    // With a few more or less, a camera that exposes all the time still counts as such a camera.
    let part = share > 0.9 ? 1 : max(0.02, share)
    let variance = part * (1 - part) / Double(max(1, found.count)) + 0.000_1
    return Steps(
      steps: found.map { step($0, levels) },
      exposure: FlashRefinement.Exposure(part: part, uncertainty: variance.squareRoot()))
  }

  private static func step(_ change: Change, _ levels: [Level]) -> LightStep {
    let (time, next) = (levels[change.frame].time, levels[change.frame + 1].time)
    let isExposed = (0.03...0.97).contains(change.part)
    // Between the end of one exposure and the beginning of the next.
    return LightStep(
      rises: change.rises, isExposed: isExposed,
      anchor: isExposed || change.part >= 0.5 ? time : next, length: next - time,
      rest: isExposed ? 1 - change.part : 0)
  }

  private struct Change {
    /// The frame in which the light changed.
    var frame: Int
    /// How much of its brightness is already the next frame's brightness, from 0 to 1.
    var part: Double
    var rises: Bool
  }

  private static func changes(_ levels: [Level]) -> [Change] {
    guard levels.count >= 5 else { return [] }
    let least = max(changeMin, 6 * noise(levels))
    var changes: [Change] = []
    var frame = 2
    while frame < levels.count - 2 {
      let b = (-2...2).map { levels[frame + $0].brightness }
      let jump = b[3] - b[1]
      // Steady before and after: a slow change has no time.
      // Where most of a frame is bright already, the frame before it sees most of the step, too.
      let isNext = abs(b[4] - b[2]) > abs(jump) && (b[4] - b[2]) * jump > 0
      let isStep =
        !isNext && abs(jump) >= least && abs(b[1] - b[0]) < 0.15 * abs(jump)
        && abs(b[4] - b[3]) < 0.15 * abs(jump)
      let part = isStep ? (b[2] - b[1]) / jump : -1
      if isStep, part > -0.03, part < 1.03 {
        changes.append(Change(frame: frame, part: min(1, max(0, part)), rises: jump > 0))
        // The next frame sees the same step.
        frame += 1
      }
      frame += 1
    }
    return changes
  }

  /// The median of the changes from frame to frame, which steps are too few to raise.
  private static func noise(_ levels: [Level]) -> Double {
    let changes = zip(levels, levels.dropFirst()).map { abs($1.brightness - $0.brightness) }
      .sorted()
    return changes[changes.count / 2]
  }
}

extension ClockFit {
  /// First clock minus second clock at a time of the second, in seconds.
  fileprivate func difference(at second: Double) -> Double {
    Double(offsetNanoseconds) / 1e9 + second * driftPPM / 1e6
  }
}
