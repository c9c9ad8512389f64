import RetakeCompare
import RetakeCore

/// Pairs the rows of two digests files by frame.
struct RowAligner {
  private var golden: [Int: [StageRow]] = [:]
  private var actual: [Int: [StageRow]] = [:]

  mutating func add(golden left: StageRow?, actual right: StageRow?) {
    if let left { golden[left.frame.track, default: []].append(left) }
    if let right { actual[right.frame.track, default: []].append(right) }
  }

  mutating func drain(into comparator: inout StageComparator, atEnd: Bool) {
    for track in Set(golden.keys).union(actual.keys).sorted() {
      while let left = golden[track]?.first, let right = actual[track]?.first {
        let (mine, theirs) = (left.frame.sequence, right.frame.sequence)
        if mine == theirs { comparator.compare(golden: left, actual: right) }
        if mine < theirs { comparator.compareOneSided(left, isLost: true) }
        if mine > theirs { comparator.compareOneSided(right, isLost: false) }
        if mine <= theirs { golden[track]?.removeFirst() }
        if mine >= theirs { actual[track]?.removeFirst() }
      }
      guard atEnd else { continue }
      for row in golden[track] ?? [] { comparator.compareOneSided(row, isLost: true) }
      for row in actual[track] ?? [] { comparator.compareOneSided(row, isLost: false) }
      golden[track] = []
      actual[track] = []
    }
  }
}
