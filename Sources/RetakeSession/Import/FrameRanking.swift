import RetakeCore
import RetakeMedia
import RetakeStore

/// The frames of a track in the order in which they are shown, with their times.
struct FrameTimeline: Sendable {
  struct Frame: Sendable {
    /// Unshifted.
    var nanoseconds: Int64
    /// Among the facts; negative for a packet that the decoder refused.
    var fact: Int32
    /// Among the refusals, for a frame without a fact.
    var refusal: Int32
    var assumed: UInt8
  }

  var frames = CompactList<Frame>()
  var places: [TimePlace] = []
}

/// Gives every frame of a track its sequence, which is its rank in the decoder's order, and a time
/// that never goes back.
///
/// A decoder puts pictures out in the order in which they are shown, whatever their time stamps say.
/// Where these begin again, as in recordings that were joined, time continues by one frame; where
/// they leap, the gap is kept, unless it is the width of a clock. Each such place is noted.
struct FrameRanking {
  let track: Int
  let timeBase: TimeBase
  /// Of one frame, where neither packet nor decoder says.
  let durationNanoseconds: Int64

  /// What a frame is made of.
  private struct Source {
    /// In nanoseconds, as the file says.
    var time: Int64?
    /// What the decoder makes of neighbours; nil where the file says the time.
    var guess: Int64?
    var step: Int64
  }

  /// A leap is noted beyond this much time, and this many frames.
  private static let leapNanoseconds: Int64 = 10_000_000_000
  private static let leapFrames: Int64 = 100
  /// Frames behind a late one among which time has to be where it was.
  private static let lookahead = 3
  /// Frames around a refused packet's place among which its time is looked for.
  private static let refusalWindow = 32

  /// - Parameter packets: of the track, for the times of those that were refused.
  func rank(_ facts: TrackFacts, packets: PacketList) -> FrameTimeline {
    let order = order(facts, packets: packets)
    var clock = FrameClock(track: track, leapNanoseconds: leap, wrapNanoseconds: wrap)
    for place in order.indices {
      let source = source(order[place], facts, packets)
      var ahead: [Int64] = []
      if let time = source.time, clock.isUnusual(time) {
        for next in order[(place + 1)...].prefix(Self.lookahead) {
          if let time = self.source(next, facts, packets).time { ahead.append(time) }
        }
      }
      clock.add(
        time: source.time, guess: source.guess, step: source.step, ahead: ahead,
        fact: order[place] < 0 ? -1 : order[place], refusal: order[place] < 0 ? ~order[place] : -1)
    }
    return clock.finish()
  }

  private var leap: Int64 {
    max(Self.leapNanoseconds, durationNanoseconds.multiplied(by: Self.leapFrames))
  }

  /// Half of what a clock of 33 bits counts, for containers that have one.
  private var wrap: Int64? {
    guard timeBase == TimeBase(1, 90_000) else { return nil }
    return Timestamp(pts: 1 << 32, timeBase: timeBase)?.nanoseconds
  }

  /// Facts by their number, refusals by the inverse of theirs, as they are shown.
  private func order(_ facts: TrackFacts, packets: PacketList) -> [Int32] {
    let lost = lost(facts, packets: packets)
    var order: [Int32] = []
    order.reserveCapacity(facts.frames.count + lost.count)
    var next = lost[...]
    for fact in 0...facts.frames.count {
      while let refusal = next.first, refusal.place <= fact {
        order.append(~Int32(refusal.number))
        next.removeFirst()
      }
      if fact < facts.frames.count { order.append(Int32(fact)) }
    }
    return order
  }

  /// The refused packets that gave no picture, and before which picture each of them belongs.
  private func lost(
    _ facts: TrackFacts, packets: PacketList
  ) -> [(place: Int, number: Int)] {
    guard !facts.refused.isEmpty else { return [] }
    let given = Set(facts.frames.indices.map { facts.frames.packet($0) })
    var seen: Set<Int> = []
    var lost: [(place: Int, number: Int)] = []
    for (number, refusal) in facts.refused.enumerated() {
      guard !given.contains(refusal.packet), packets.indices.contains(refusal.packet),
        !packets.flags(refusal.packet).contains(.discard),
        seen.insert(refusal.packet).inserted
      else { continue }
      lost.append((place(of: refusal.packet, after: refusal.after, facts, packets), number))
    }
    return lost.sorted { ($0.place, $0.number) < ($1.place, $1.number) }
  }

  /// Where the time of a refused packet lies among the pictures around it.
  private func place(
    of packet: Int, after: Int, _ facts: TrackFacts, _ packets: PacketList
  ) -> Int {
    guard let time = nanoseconds(packets[packet].pts) else { return after }
    let reach = durationNanoseconds.multiplied(by: Int64(Self.refusalWindow))
    var place = after
    while place < facts.frames.count, place - after < Self.refusalWindow,
      let next = nanoseconds(facts.frames[place].pts), next < time,
      time.subtracted(next) <= reach
    { place += 1 }
    while place > 0, after - place < Self.refusalWindow,
      let before = nanoseconds(facts.frames[place - 1].pts), before > time,
      before.subtracted(time) <= reach
    { place -= 1 }
    return place
  }

  private func source(_ number: Int32, _ facts: TrackFacts, _ packets: PacketList) -> Source {
    guard number < 0 else {
      let fact = facts.frames[Int(number)]
      return source(pts: fact.pts, guess: fact.bestEffort, duration: fact.duration)
    }
    let packet = packets[facts.refused[Int(~number)].packet]
    return source(pts: packet.pts, guess: packet.dts, duration: packet.duration)
  }

  private func source(pts: Int64?, guess: Int64?, duration: Int64) -> Source {
    let time = nanoseconds(pts)
    return Source(
      time: time, guess: time == nil ? nanoseconds(guess) : nil,
      step: nanoseconds(duration > 0 ? duration : nil) ?? durationNanoseconds)
  }

  private func nanoseconds(_ value: Int64?) -> Int64? {
    value.flatMap { Timestamp(pts: $0, timeBase: timeBase)?.nanoseconds }
  }
}

/// Time that never goes back, frame by frame.
private struct FrameClock {
  let track: Int
  let leapNanoseconds: Int64
  /// A leap of this much is a clock's, not the recording's; nil where clocks do not begin again.
  let wrapNanoseconds: Int64?
  private var timeline = FrameTimeline()
  /// What is added to the file's time.
  private var offset: Int64 = 0
  /// The latest time of the stretch, as the file says.
  private var latest: Int64?
  /// The first frame behind the last one whose time the file says.
  private var open = 0
  /// Whether any frame has a time that was not counted from nothing.
  private var isAnchored = false
  private var steps: [Int64] = []
  private var late: TimePlace?
  private var odd: TimePlace?
  private var missing: TimePlace?

  init(track: Int, leapNanoseconds: Int64, wrapNanoseconds: Int64?) {
    (self.track, self.leapNanoseconds) = (track, leapNanoseconds)
    self.wrapNanoseconds = wrapNanoseconds
  }

  /// Whether what comes behind a time has to be known to judge it.
  func isUnusual(_ time: Int64) -> Bool {
    latest.map { time < $0 || time.subtracted($0) > leapNanoseconds } ?? false
  }

  private var last: Int64? {
    timeline.frames.isEmpty ? nil : timeline.frames[timeline.frames.count - 1].nanoseconds
  }

  private func following(_ step: Int64) -> Int64 { last.map { $0.added(step) } ?? 0 }

  /// - Parameters:
  ///   - step: How long after the frame before it is shown, where nothing else says.
  ///   - ahead: The times of the next frames, where this one's is unusual.
  mutating func add(
    time: Int64?, guess: Int64?, step: Int64, ahead: [Int64], fact: Int32, refusal: Int32
  ) {
    var assumed: FrameRecord.Assumed = [.arrival]
    let settled: Int64
    if let time, !isOdd(time, ahead) {
      settled = known(time, step: step, ahead: ahead, &assumed)
    } else if time == nil, let guess, isLikely(guess.added(offset)) {
      assumed.insert(.ptsBestEffort)
      settled = guess.added(offset)
      if !isAnchored { countBack(from: settled, step: step) }
      isAnchored = true
    } else {
      assumed.insert(.ptsFromDuration)
      if time == nil { missing = counted(missing, .missing) } else { odd = counted(odd, .odd) }
      settled = following(step)
    }
    // What began without a time may be more than a file that ends so.
    if time != nil || guess != nil { closeMissing() }
    append(settled, assumed, step: step, fact: fact, refusal: refusal)
    if time != nil, !assumed.contains(.ptsFromDuration) {
      open = timeline.frames.count
      steps = []
    }
  }

  private mutating func append(
    _ time: Int64, _ assumed: FrameRecord.Assumed, step: Int64, fact: Int32, refusal: Int32
  ) {
    steps.append(step)
    timeline.frames.append(
      FrameTimeline.Frame(
        nanoseconds: max(time, last ?? time), fact: fact, refusal: refusal,
        assumed: UInt8(truncatingIfNeeded: assumed.rawValue)))
  }

  /// Whether a decoder's guess continues the time of the frames before.
  private func isLikely(_ time: Int64) -> Bool {
    guard isAnchored, let last else { return true }
    return time >= last && time.subtracted(last) <= leapNanoseconds
  }

  /// Far ahead of all, and the frames behind it are where time was.
  private func isOdd(_ time: Int64, _ ahead: [Int64]) -> Bool {
    guard let latest, time.subtracted(latest) > leapNanoseconds, let next = ahead.first else {
      return false
    }
    return next >= latest && next.subtracted(latest) <= leapNanoseconds
  }

  /// The session's time of a frame whose time the file says.
  private mutating func known(
    _ time: Int64, step: Int64, ahead: [Int64], _ assumed: inout FrameRecord.Assumed
  ) -> Int64 {
    if let latest, time < latest {
      assumed.insert(.ptsBackwards)
      if ahead.contains(where: { $0 > latest && $0.subtracted(latest) <= leapNanoseconds }) {
        late = counted(late, .late)
        return last ?? 0
      }
      note(.back, latest.subtracted(time))
      restart(at: time, step: step)
    } else if let latest, time.subtracted(latest) > leapNanoseconds {
      let length = time.subtracted(latest)
      let isWrap = wrapNanoseconds.map { length >= $0 } ?? false
      note(isWrap ? .wrap : .gap, length)
      if isWrap { restart(at: time, step: step) }
    }
    latest = max(latest ?? time, time)
    let settled = time.added(offset)
    settleOpen(before: settled, step: step)
    isAnchored = true
    return settled
  }

  private mutating func restart(at time: Int64, step: Int64) {
    offset = following(step).subtracted(time)
    latest = time
  }

  /// Frames without a time of their own lie between those with one.
  private mutating func settleOpen(before time: Int64, step: Int64) {
    let end = timeline.frames.count
    guard open < end else { return }
    guard open > 0 else {
      if !isAnchored || timeline.frames[end - 1].nanoseconds > time {
        countBack(from: time, step: step)
      }
      return
    }
    guard timeline.frames[end - 1].nanoseconds > time else { return }
    let start = timeline.frames[open - 1].nanoseconds
    let (span, count) = (max(0, time.subtracted(start)), Int64(end - open + 1))
    for place in open..<end {
      timeline.frames[place].nanoseconds = start + span / count * Int64(place - open + 1)
    }
  }

  /// The first frames have no time: theirs ends where the first known one begins.
  private mutating func countBack(from time: Int64, step: Int64) {
    var (time, step) = (time, step)
    for place in timeline.frames.indices.reversed() {
      time = time.subtracted(step)
      timeline.frames[place].nanoseconds = time
      step = steps[place]
    }
  }

  private mutating func note(_ kind: TimePlace.Kind, _ nanoseconds: Int64) {
    timeline.places.append(
      TimePlace(
        kind: kind, track: track, frame: timeline.frames.count, frames: 1,
        nanoseconds: nanoseconds))
  }

  private func counted(_ place: TimePlace?, _ kind: TimePlace.Kind) -> TimePlace {
    var place =
      place
      ?? TimePlace(
        kind: kind, track: track, frame: timeline.frames.count, frames: 0, nanoseconds: 0)
    place.frames += 1
    return place
  }

  private mutating func closeMissing() {
    if let missing { timeline.places.append(missing) }
    missing = nil
  }

  mutating func finish() -> FrameTimeline {
    closeMissing()
    timeline.places += [late, odd].compactMap(\.self)
    timeline.places.sort { ($0.frame, $0.kind.rawValue) < ($1.frame, $1.kind.rawValue) }
    for place in timeline.frames.indices.dropFirst()
    where timeline.frames[place].nanoseconds == timeline.frames[place - 1].nanoseconds {
      timeline.frames[place].assumed |= UInt8(FrameRecord.Assumed.ptsDuplicate.rawValue)
    }
    return timeline
  }
}

extension Int64 {
  /// At the ends of what 64 bits hold, rather than around them.
  fileprivate func added(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }

  fileprivate func subtracted(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  fileprivate func multiplied(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
