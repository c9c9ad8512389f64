import RetakeCore

/// Which frames of two runs are the same one.
public enum Pairing: String, Hashable, Sendable, Codable {
  /// By (track, sequence): two runs of one session.
  case sequence
  /// By (track, presentation time): runs of two sessions, where one has frames that the other
  /// lacks. A frame without a time goes by its sequence.
  case presentationTime
}

/// Pairs the frames of two streams, each in rising order on every track. A frame that one stream
/// lacks shifts nothing.
///
/// It holds what one stream is ahead of the other on a track: one block where nothing is missing.
struct FrameAligner {
  enum Pair: Sendable {
    case both(golden: ResultFrame, actual: ResultFrame)
    case lost(ResultFrame)
    case inserted(ResultFrame)
  }

  private struct Track {
    var golden: [ResultFrame] = []
    var actual: [ResultFrame] = []
  }

  let pairing: Pairing
  private var tracks: [Int: Track] = [:]

  init(pairing: Pairing) {
    self.pairing = pairing
  }

  /// Nothing waits for its partner, so equal blocks hold equal pairs.
  var isEmpty: Bool { tracks.values.allSatisfy { $0.golden.isEmpty && $0.actual.isEmpty } }

  mutating func add(golden: [ResultFrame], actual: [ResultFrame]) {
    for frame in golden { tracks[frame.id.track, default: Track()].golden.append(frame) }
    for frame in actual { tracks[frame.id.track, default: Track()].actual.append(frame) }
  }

  /// The pairs that are certain by now; at the end all that is left.
  mutating func take(atEnd: Bool) -> [Pair] {
    var pairs: [Pair] = []
    for number in tracks.keys.sorted() {
      if var track = tracks[number] {
        take(from: &track, into: &pairs, atEnd: atEnd)
        tracks[number] = track
      }
    }
    return pairs
  }

  private func take(from track: inout Track, into pairs: inout [Pair], atEnd: Bool) {
    var golden = 0
    var actual = 0
    while golden < track.golden.count && actual < track.actual.count {
      let left = track.golden[golden]
      let right = track.actual[actual]
      let order = order(left, right)
      switch order {
      case 0: pairs.append(.both(golden: left, actual: right))
      case ..<0: pairs.append(.lost(left))
      default: pairs.append(.inserted(right))
      }
      if order <= 0 { golden += 1 }
      if order >= 0 { actual += 1 }
    }
    if atEnd {
      pairs += track.golden[golden...].map { .lost($0) }
      pairs += track.actual[actual...].map { .inserted($0) }
      track = Track()
    } else {
      track.golden.removeFirst(golden)
      track.actual.removeFirst(actual)
    }
  }

  private func order(_ left: ResultFrame, _ right: ResultFrame) -> Int {
    if pairing == .presentationTime, let mine = left.pts, let theirs = right.pts {
      return mine == theirs ? 0 : (mine < theirs ? -1 : 1)
    }
    let (mine, theirs) = (left.id.sequence, right.id.sequence)
    return mine == theirs ? 0 : (mine < theirs ? -1 : 1)
  }
}
