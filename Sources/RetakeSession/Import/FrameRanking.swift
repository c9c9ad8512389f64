import RetakeCore
import RetakeStore

/// Gives every frame of a track its sequence: its rank by (time, decoder's order).
struct FrameRanking {
  let track: Int
  let timeBase: TimeBase
  /// Of one frame, where neither packet nor decoder says.
  let durationNanoseconds: Int64

  /// A frame, and which of the facts it came from; nil for a packet that the decoder refused.
  struct Ranked {
    var record: FrameRecord
    var fact: DecodedFact?
  }

  /// A frame on its way to a rank.
  private struct Candidate {
    var record: FrameRecord
    var fact: DecodedFact?
    var order: Int
  }

  /// - Parameter packets: of the track, for the times of those that were refused.
  func rank(_ facts: TrackFacts, packets: [PacketRecord]) -> [Ranked] {
    var candidates = inDecoderOrder(facts, packets: packets)
    for place in candidates.indices { candidates[place].order = place }
    flagBackwards(&candidates)
    candidates.sort {
      ($0.record.ptsNanoseconds, $0.order) < ($1.record.ptsNanoseconds, $1.order)
    }
    for place in candidates.indices {
      candidates[place].record.sequence = place
      let time = candidates[place].record.ptsNanoseconds
      if place > 0, candidates[place - 1].record.ptsNanoseconds == time {
        candidates[place].record.assumed.insert(.ptsDuplicate)
      }
    }
    return candidates.map { Ranked(record: $0.record, fact: $0.fact) }
  }

  private func inDecoderOrder(_ facts: TrackFacts, packets: [PacketRecord]) -> [Candidate] {
    let shown = Set(facts.frames.map(\.packet))
    var lost = facts.refused.filter { refusal in
      !shown.contains(refusal.packet) && packets.indices.contains(refusal.packet)
        && !packets[refusal.packet].flags.contains(.discard)
    }[...]
    var candidates: [Candidate] = []
    var seen: Set<Int> = []
    var previous: Int64?
    func add(_ record: FrameRecord, _ fact: DecodedFact?) {
      candidates.append(Candidate(record: record, fact: fact, order: 0))
      previous = record.ptsNanoseconds
    }
    for place in 0...facts.frames.count {
      while let refusal = lost.first, refusal.after <= place {
        lost.removeFirst()
        guard seen.insert(refusal.packet).inserted else { continue }
        let packet = packets[refusal.packet]
        add(
          record(
            pts: packet.pts, bestEffort: packet.dts, duration: packet.duration,
            packet: refusal.packet, cause: refusal.code, previous: previous), nil)
      }
      guard place < facts.frames.count else { break }
      let fact = facts.frames[place]
      add(
        record(
          pts: fact.pts, bestEffort: fact.bestEffort, duration: fact.duration,
          packet: fact.packet, cause: nil, previous: previous), fact)
    }
    return candidates
  }

  private func record(
    pts: Int64?, bestEffort: Int64?, duration: Int64, packet: Int, cause: String?,
    previous: Int64?
  ) -> FrameRecord {
    func nanoseconds(_ value: Int64?) -> Int64? {
      value.flatMap { Timestamp(pts: $0, timeBase: timeBase)?.nanoseconds }
    }
    var assumed: FrameRecord.Assumed = [.arrival]
    var time = nanoseconds(pts)
    if time == nil, let guess = nanoseconds(bestEffort) {
      (time, assumed) = (guess, assumed.union(.ptsBestEffort))
    }
    let step = nanoseconds(duration > 0 ? duration : nil) ?? durationNanoseconds
    if time == nil { assumed.insert(.ptsFromDuration) }
    let settled = time ?? previous.map { $0.addingReportingOverflow(step).partialValue } ?? 0
    return FrameRecord(
      track: track, sequence: 0, pts: pts, ptsNanoseconds: settled, arrivalNanoseconds: settled,
      packet: packet, cause: cause, assumed: assumed)
  }

  /// The decoder shows a picture after one with a later time.
  private func flagBackwards(_ candidates: inout [Candidate]) {
    var latest = Int64.min
    for place in candidates.indices where candidates[place].fact != nil {
      let time = candidates[place].record.ptsNanoseconds
      if time < latest { candidates[place].record.assumed.insert(.ptsBackwards) }
      latest = max(latest, time)
    }
  }
}
