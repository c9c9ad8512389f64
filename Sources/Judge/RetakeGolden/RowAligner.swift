import RetakeCompare

/// Pairs the rows of two digests files by frame, a few hundred at a time.
struct RowAligner {
  /// Rows that are read from each file before they are paired.
  static let batch = 256

  private struct Track {
    var golden: [StageRow] = []
    var actual: [StageRow] = []
  }

  private var tracks: [Int: Track] = [:]

  mutating func add(golden row: StageRow) {
    tracks[row.frame.track, default: Track()].golden.append(row)
  }

  mutating func add(actual row: StageRow) {
    tracks[row.frame.track, default: Track()].actual.append(row)
  }

  mutating func drain(into comparator: inout StageComparator, atEnd: Bool) {
    // By track: rows of several tracks are in the order of time, and only within a track do
    // sequences rise. Sorted, because the first difference becomes the first root.
    for number in tracks.keys.sorted() {
      guard var track = tracks.removeValue(forKey: number) else { continue }
      drain(&track, into: &comparator, atEnd: atEnd)
      tracks[number] = track
    }
  }

  private func drain(
    _ track: inout Track, into comparator: inout StageComparator, atEnd: Bool
  ) {
    var golden = 0
    var actual = 0
    while golden < track.golden.count && actual < track.actual.count {
      let left = track.golden[golden]
      let right = track.actual[actual]
      let (mine, theirs) = (left.frame.sequence, right.frame.sequence)
      if mine == theirs { comparator.compare(golden: left, actual: right) }
      if mine < theirs { comparator.compareOneSided(left, isLost: true) }
      if mine > theirs { comparator.compareOneSided(right, isLost: false) }
      if mine <= theirs { golden += 1 }
      if mine >= theirs { actual += 1 }
    }
    track.golden.removeFirst(golden)
    track.actual.removeFirst(actual)
    // The remaining rows of one side may find their partners in the next batch.
    guard atEnd else { return }
    for row in track.golden { comparator.compareOneSided(row, isLost: true) }
    for row in track.actual { comparator.compareOneSided(row, isLost: false) }
    track = Track()
  }
}
