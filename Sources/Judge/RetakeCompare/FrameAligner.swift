import RetakeCore

/// Pairs the frames of two streams, each in increasing order on every track. A frame that is
/// missing in one stream does not shift the others.
///
/// It stores the frames by which one stream is ahead of the other on a track: one block if no frame
/// is missing.
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

  /// Whether no frame waits for its partner. Equal blocks then contain equal pairs.
  var isEmpty: Bool { tracks.values.allSatisfy { $0.golden.isEmpty && $0.actual.isEmpty } }

  mutating func add(golden: [ResultFrame], actual: [ResultFrame]) {
    for frame in golden { tracks[frame.id.track, default: Track()].golden.append(frame) }
    for frame in actual { tracks[frame.id.track, default: Track()].actual.append(frame) }
  }

  /// The pairs that are certain by now; at the end, all remaining pairs.
  mutating func take(atEnd: Bool) -> [Pair] {
    var pairs: [Pair] = []
    // Sorted, because findings must not have the order of a Dictionary.
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
      // Both streams rise on each track, so the smaller of two frames has no partner any more.
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
