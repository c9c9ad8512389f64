package import RetakeCore
import RetakeStore

/// The frames of a track in presentation order, with their times.
package struct FrameTimeline: Sendable {
  struct Frame: Sendable {
    /// Not shifted.
    var nanoseconds: Int64
    /// Index of the fact; negative for a packet that the decoder rejected.
    var fact: Int32
    /// Index of the rejection, for a frame without a fact.
    var refusal: Int32
    var assumed: UInt8
  }

  var frames = CompactList<Frame>()
  package var places: [TimePlace] = []
}

/// Assigns every frame of a track its sequence, which is its rank in the decoder's order, and a
/// time that never decreases.
///
/// A decoder returns images in presentation order, whatever their timestamps are. If timestamps
/// restart, as in joined recordings, time continues by one frame. If they jump, the gap is kept,
/// unless it is so large that a clock must have wrapped around. Each such place is noted.
package struct FrameRanking {
  let track: Int
  let timeBase: TimeBase
  /// Duration of a frame, if neither the packet nor the decoder reports it.
  let durationNanoseconds: Int64
  private let shift: TimeShift

  package init(
    track: Int, timeBase: TimeBase, durationNanoseconds: Int64, shift: TimeShift = .none
  ) {
    (self.track, self.timeBase) = (track, timeBase)
    (self.durationNanoseconds, self.shift) = (durationNanoseconds, shift)
  }

  /// The input of a frame's time.
  private struct Source {
    /// In nanoseconds, as in the file.
    var time: Int64?
    /// The decoder's estimate from neighboring frames; nil if the file has a time.
    var guess: Int64?
    var step: Int64
  }

  /// A jump is noted if it exceeds this time and this number of frames.
  private static let leapNanoseconds: Int64 = 10_000_000_000
  private static let leapFrames: Int64 = 100
  /// Number of frames after a late one in which time must continue as before.
  private static let lookahead = 3
  /// Number of frames around a rejected packet in which its time is searched.
  private static let refusalWindow = 32

  /// - Parameters:
  ///   - packets: Packets of the track, for the times of rejected packets.
  ///   - dropped: Indexes of images that do not become frames.
  package func rank(
    _ facts: TrackFacts, packets: PacketList, without dropped: Set<Int> = []
  ) -> FrameTimeline {
    let order = order(facts, packets: packets, without: dropped)
    var clock = FrameClock(track: track, leapNanoseconds: leap, wrapNanoseconds: wrap)
    var upcoming = order.first.map { source($0, facts, packets) }
    for place in order.indices {
      guard let source = upcoming else { preconditionFailure("each place has a source") }
      upcoming =
        place + 1 < order.count ? self.source(order[place + 1], facts, packets) : nil
      var ahead: [Int64] = []
      if let time = source.time, clock.isUnusual(time, next: upcoming?.time) {
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

  /// Half the range of a 33-bit clock, for containers that have one.
  private var wrap: Int64? {
    // MPEG-TS and MPEG-PS count 33 bits at 90 kHz (ISO/IEC 13818-1), so half
    // of the range is 47,721 s.
    guard timeBase == TimeBase(1, 90_000) else { return nil }
    return Timestamp(pts: 1 << 32, timeBase: timeBase)?.nanoseconds
  }

  /// Indexes of facts, and inverted indexes of rejections, in presentation order.
  private func order(
    _ facts: TrackFacts, packets: PacketList, without dropped: Set<Int>
  ) -> [Int32] {
    let lost = lost(facts, packets: packets)
    var order: [Int32] = []
    order.reserveCapacity(facts.frames.count + lost.count)
    var next = lost[...]
    // One round more than there are facts, for rejections after the last image.
    for fact in 0...facts.frames.count {
      while let refusal = next.first, refusal.place <= fact {
        // `~` makes index 0 negative, too.
        order.append(~Int32(refusal.number))
        next.removeFirst()
      }
      if fact < facts.frames.count, !dropped.contains(fact) { order.append(Int32(fact)) }
    }
    return order
  }

  /// The rejected packets without an image, and the index of the image that follows each of them.
  private func lost(
    _ facts: TrackFacts, packets: PacketList
  ) -> [(place: Int, number: Int)] {
    guard !facts.refused.isEmpty else { return [] }
    let given = Set(facts.frames.indices.map { facts.frames.packet($0) })
    var seen: Set<Int> = []
    var lost: [(place: Int, number: Int)] = []
    for (number, refusal) in facts.refused.enumerated() {
      // A packet that was rejected and still produced an image is one frame. An edit list hides
      // packets, which are decoded and not shown. And a packet may be rejected twice, when it is
      // sent and when its image is received.
      guard !given.contains(refusal.packet), packets.indices.contains(refusal.packet),
        !packets.flags(refusal.packet).contains(.discard),
        seen.insert(refusal.packet).inserted
      else { continue }
      lost.append((place(of: refusal.packet, after: refusal.after, facts, packets), number))
    }
    // By number as well, because `sorted` does not promise to keep the order of equal places.
    return lost.sorted { ($0.place, $0.number) < ($1.place, $1.number) }
  }

  /// Finds the position of a rejected packet's time among the images around it.
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
    // The decoder made no guess for a packet that it rejected; the decoding time is the guess.
    return source(pts: packet.pts, guess: packet.dts, duration: packet.duration)
  }

  private func source(pts: Int64?, guess: Int64?, duration: Int64) -> Source {
    let time = nanoseconds(pts)
    return Source(
      time: time, guess: time == nil ? nanoseconds(guess) : nil,
      step: length(duration) ?? durationNanoseconds)
  }

  private func nanoseconds(_ value: Int64?) -> Int64? {
    value.flatMap {
      Timestamp(pts: $0, timeBase: timeBase, movedBackBy: shift.nanoseconds)?.nanoseconds
    }
  }

  private func length(_ duration: Int64) -> Int64? {
    duration > 0 ? Timestamp(pts: duration, timeBase: timeBase)?.nanoseconds : nil
  }
}

/// Computes times that never decrease, frame by frame.
private struct FrameClock {
  let track: Int
  let leapNanoseconds: Int64
  /// A jump of at least this much is a clock that wrapped; nil if clocks do not wrap.
  let wrapNanoseconds: Int64?
  private var timeline = FrameTimeline()
  /// Added to the file's time.
  private var offset: Int64 = 0
  /// The latest time of the current stretch, as in the file.
  private var latest: Int64?
  /// Index of the first frame after the last one with a time from the file.
  private var open = 0
  /// Whether any frame has a time that comes from the file or the decoder.
  private var isAnchored = false
  private var steps: [Int64] = []
  private var late: TimePlace?
  private var odd: TimePlace?
  private var missing: TimePlace?

  init(track: Int, leapNanoseconds: Int64, wrapNanoseconds: Int64?) {
    (self.track, self.leapNanoseconds) = (track, leapNanoseconds)
    self.wrapNanoseconds = wrapNanoseconds
  }

  /// Whether the following times are needed to judge this one.
  func isUnusual(_ time: Int64, next: Int64?) -> Bool {
    guard let latest else { return false }
    return time < latest || time.subtracted(latest) > leapNanoseconds
      || next.map { $0 < time } ?? false
  }

  private var last: Int64? {
    timeline.frames.isEmpty ? nil : timeline.frames[timeline.frames.count - 1].nanoseconds
  }

  private func following(_ step: Int64) -> Int64 { last.map { $0.added(step) } ?? 0 }

  /// - Parameters:
  ///   - step: Duration from the previous frame, if the time is not known otherwise.
  ///   - ahead: The times of the next frames, if this frame's time is unusual.
  mutating func add(
    time: Int64?, guess: Int64?, step: Int64, ahead: [Int64], fact: Int32, refusal: Int32
  ) {
    var assumed: FrameRecord.Assumed = [.arrival]
    let settled: Int64
    if let time, !isOdd(time, step: step, ahead) {
      settled = known(time, step: step, ahead: ahead, &assumed)
    } else if time == nil, let guess, isLikely(guess.added(offset)) {
      assumed.insert(.ptsBestEffort)
      settled = guess.added(offset)
      // The first frames have no time yet; this guess is the first that dates them.
      if !isAnchored { countBack(from: settled, step: step) }
      isAnchored = true
    } else {
      assumed.insert(.ptsFromDuration)
      if time == nil { missing = counted(missing, .missing) } else { odd = counted(odd, .odd) }
      settled = following(step)
    }
    // A frame with a time or an estimate ends a run of frames without one.
    if time != nil || guess != nil { closeMissing() }
    append(settled, assumed, step: step, fact: fact, refusal: refusal)
    // Frames that were counted stay open until a later one has a time of the file.
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

  /// Whether a decoder's estimate continues the time of the frames before.
  private func isLikely(_ time: Int64) -> Bool {
    guard isAnchored, let last else { return true }
    return time >= last && time.subtracted(last) <= leapNanoseconds
  }

  /// Whether a time is ahead of all, while the following frames continue as before.
  private func isOdd(_ time: Int64, step: Int64, _ ahead: [Int64]) -> Bool {
    // A last frame has no successor that could contradict it, so it is believed.
    guard let latest, let next = ahead.first else { return false }
    if time.subtracted(latest) > leapNanoseconds {
      return next >= latest && next.subtracted(latest) <= leapNanoseconds
    }
    // Where pictures are regular, a frame that belongs after two later frames has a time three
    // steps away. A smaller step is a frame that is due, before a piece that was joined.
    guard time.subtracted(latest) > step.multiplied(by: 2) else { return false }
    // If one frame alone is earlier, that one is late.
    return ahead.prefix { $0 > latest && $0 < time }.count > 1
  }

  /// The session's time of a frame with a time from the file.
  private mutating func known(
    _ time: Int64, step: Int64, ahead: [Int64], _ assumed: inout FrameRecord.Assumed
  ) -> Int64 {
    if let latest, time < latest {
      assumed.insert(.ptsBackwards)
      // docs/imported-footage.md, `late`: a following frame continues where time was,
      // so time does not go back.
      if ahead.contains(where: { $0 > latest && $0.subtracted(latest) <= leapNanoseconds }) {
        late = counted(late, .late)
        return last ?? 0
      }
      note(.back, latest.subtracted(time))
      restart(at: time, step: step)
    } else if let latest, time.subtracted(latest) > leapNanoseconds {
      let length = time.subtracted(latest)
      let isWrap = wrapNanoseconds.map { length >= $0 } ?? false
      // docs/imported-footage.md: a gap is kept, because a gap in a recording is real.
      // Only a clock that wrapped continues by one frame.
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

  /// Places frames without a time between the frames with one.
  private mutating func settleOpen(before time: Int64, step: Int64) {
    let end = timeline.frames.count
    guard open < end else { return }
    guard open > 0 else {
      // Guesses of the decoder that do not pass the first known time stay as they are.
      if !isAnchored || timeline.frames[end - 1].nanoseconds > time {
        countBack(from: time, step: step)
      }
      return
    }
    // Counted times are kept while they do not pass the next known one.
    guard timeline.frames[end - 1].nanoseconds > time else { return }
    let start = timeline.frames[open - 1].nanoseconds
    let (span, count) = (max(0, time.subtracted(start)), Int64(end - open + 1))
    for place in open..<end {
      // Divided before it is multiplied, so that the product fits 64 bits.
      timeline.frames[place].nanoseconds = start + span / count * Int64(place - open + 1)
    }
  }

  /// Assigns times to the first frames by counting back from the first known time.
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
    // Late and odd frames are counted over the complete track, so their counts are final only here.
    // Sorting by kind as well puts two places of one frame into a fixed order.
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
  /// Saturates at the limits of 64 bits instead of wrapping around.
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
