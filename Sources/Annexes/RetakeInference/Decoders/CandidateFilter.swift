import RetakeCore

/// Sorts, filters and suppresses the candidates of a model.
struct CandidateFilter: Sendable {
  /// The most candidates that are compared with each other: as many as Ultralytics allows.
  static let candidatesMax = 30_000

  let settings: DecoderSettings

  /// Greedy non-maximum suppression, in the total order.
  ///
  /// Candidates are not clipped before: clipped boxes overlap more or less than unclipped boxes.
  func suppressed(_ candidates: [Candidate]) -> [Candidate] {
    var kept: [Candidate] = []
    // Ends at `maxDetections`, which bounds the comparisons.
    for candidate in ordered(candidates) where kept.count < settings.maxDetections {
      guard !kept.contains(where: { suppresses($0, candidate) }) else { continue }
      kept.append(candidate)
    }
    return kept
  }

  /// The best candidates in the total order, without suppression.
  func best(_ candidates: [Candidate]) -> [Candidate] {
    Array(ordered(candidates).prefix(settings.maxDetections))
  }

  private func ordered(_ candidates: [Candidate]) -> ArraySlice<Candidate> {
    kept(candidates).sorted(by: Candidate.comesFirst).prefix(Self.candidatesMax)
  }

  /// Filters before candidates are compared or counted, so that other classes do not use up the
  /// limits.
  private func kept(_ candidates: [Candidate]) -> [Candidate] {
    guard !settings.classes.isEmpty else { return candidates }
    let indices = Set(
      settings.labels.indices.filter { settings.classes.contains(settings.labels[$0]) })
    return candidates.filter { indices.contains($0.classIndex) }
  }

  private func suppresses(_ better: Candidate, _ other: Candidate) -> Bool {
    guard settings.isClassAgnostic || better.classIndex == other.classIndex else { return false }
    return better.box.overlap(with: other.box) > settings.iouThreshold
  }

  /// The candidates as detections of the frame: moved back, then clipped. A candidate outside the
  /// frame is left out.
  func decoded(_ candidates: [Candidate], _ geometry: ImageGeometry) -> Decoded {
    var items: [Detection] = []
    var landmarks: [[ImagePoint]] = []
    for candidate in candidates {
      guard let box = geometry.clippedToFrame(geometry.boxInFrame(candidate.box)) else { continue }
      items.append(
        Detection(box: box, score: candidate.score, classIndex: candidate.classIndex))
      landmarks.append(candidate.landmarks.map(geometry.pointInFrame))
    }
    return .detections(
      Detections(items, classNames: settings.labels),
      landmarks: landmarks.allSatisfy(\.isEmpty) ? [] : landmarks)
  }
}
