import RetakeCore

extension SinkOutcome {
  /// The digest of the exact values, before they are rounded for a golden.
  var exactDigest: Digest128 {
    var hasher = DigestHasher()
    switch content {
    case .ended(let fate, let node):
      hasher.append(fate.word)
      hasher.append(fate.reason)
      hasher.append(node)
    case .facts(let facts):
      hasher.append(Int64(facts.count))
      for fact in facts { fact.digest(into: &hasher) }
    }
    return hasher.finish()
  }
}

extension ResultFact {
  /// Appends the exact content of the fact.
  fileprivate func digest(into hasher: inout DigestHasher) {
    switch self {
    case .detection(let detection):
      for value in [
        detection.box.x, detection.box.y, detection.box.width, detection.box.height,
        detection.score,
      ] { hasher.append(value) }
      hasher.append(Int64(detection.classIndex))
      hasher.append(Int64(detection.identity ?? -1))
      for item in detection.classes {
        hasher.append(item.label)
        hasher.append(item.score)
      }
    case .classification(let item):
      hasher.append(item.label)
      hasher.append(item.score)
    case .scalar(let name, let value):
      hasher.append(name)
      hasher.append(value)
    case .frame(let print): hasher.append(print.digest)
    case .tensor(_, let shape, let digest):
      for length in shape { hasher.append(Int64(length)) }
      hasher.append(digest)
    case .waveform(let waveform):
      hasher.append(waveform.name)
      for sample in waveform.samples { hasher.append(sample) }
    case .text(let name, let text):
      hasher.append(name)
      hasher.append(text)
    case .user(let kind, let digest):
      hasher.append(kind)
      hasher.append(digest)
    }
  }
}
