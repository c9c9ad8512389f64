import RetakeCore

/// Findings in a list of limited length, each assigned to its root cause, and the number of all
/// findings.
package struct FindingLog: Sendable {
  package private(set) var findings: [Finding] = []
  package private(set) var count = 0
  package var causes: CauseLog
  let limit: Int

  package init(causes: CauseLog = CauseLog(), limit: Int = Comparison.findingLimit) {
    self.causes = causes
    self.limit = limit
  }

  package mutating func add(_ finding: Finding) {
    var finding = finding
    // Findings beyond the limit are attributed, too: the counts of the root causes cover all of
    // them.
    causes.attribute(&finding)
    count += 1
    if findings.count < limit { findings.append(finding) }
  }

  /// Findings, and the root causes that have findings, sorted by frame: findings about the run
  /// first, then by time, then by track and sequence. The frames of a track stay in the order of
  /// their sequences.
  package func sorted() -> (findings: [Finding], rootCauses: [RootCause]) {
    let used = causes.rootCauses.indices.filter { causes.rootCauses[$0].findings > 0 }
    let ofFindings = findings.map { Place(time: $0.time, frame: $0.frame) }
    let ofRootCauses = used.map {
      Place(time: causes.rootCauses[$0].time, frame: causes.rootCauses[$0].frame)
    }
    let times = Self.times(of: ofFindings + ofRootCauses)
    let order = Self.sorted(ofRootCauses, times).map { used[$0] }
    var places = Array(causes.rootCauses.indices)
    for (place, index) in order.enumerated() { places[index] = place }
    let sorted = Self.sorted(ofFindings, times).map { index in
      var finding = findings[index]
      finding.root = finding.root.map { places[$0] }
      return finding
    }
    return (sorted, order.map { causes.rootCauses[$0] })
  }

  private struct Place {
    var time: Int64?
    var frame: FrameID?
  }

  private static func sorted(_ places: [Place], _ times: [FrameID: Int64]) -> [Int] {
    places.indices.sorted { left, right in
      guard let mine = places[left].frame, let theirs = places[right].frame else {
        let (isLeftFirst, isRightFirst) = (places[left].frame == nil, places[right].frame == nil)
        return isLeftFirst == isRightFirst ? left < right : isLeftFirst
      }
      if mine == theirs { return left < right }
      let (time, other) = (times[mine] ?? .max, times[theirs] ?? .max)
      return time == other ? mine < theirs : time < other
    }
  }

  /// A time for each frame that never falls from one frame of a track to the next. Otherwise three
  /// frames could each precede the next one, because frames of a track are sorted by their
  /// sequences, and frames of two tracks by their times.
  ///
  /// A frame without a time has the time of its neighbor; a track without any time has no times.
  private static func times(of places: [Place]) -> [FrameID: Int64] {
    var known: [FrameID: Int64] = [:]
    for place in places {
      guard let frame = place.frame, let time = place.time else { continue }
      known[frame] = min(known[frame] ?? time, time)
    }
    var times: [FrameID: Int64] = [:]
    var track: Int?
    var last: Int64?
    var waiting: [FrameID] = []
    for frame in Set(places.compactMap(\.frame)).sorted() {
      if track != frame.track { (track, last, waiting) = (frame.track, nil, []) }
      guard let time = [known[frame], last].compactMap(\.self).max() else {
        waiting.append(frame)
        continue
      }
      for frame in waiting { times[frame] = time }
      waiting = []
      (times[frame], last) = (time, time)
    }
    return times
  }
}
