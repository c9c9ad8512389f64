import RetakeCore

/// Only traces of one verification have these digests, and no file outlives it (`TraceFiles`). So
/// their form may change.
extension SinkOutcome {
  /// The digest of the exact values, before they are rounded for a golden.
  ///
  /// Two outcomes that differ append different bytes: each list is preceded by its length, and each
  /// alternative by a word for it.
  var exactDigest: Digest128 {
    var hasher = DigestHasher()
    switch content {
    case .ended(let fate, let node):
      hasher.append("ended")
      hasher.append(fate.word)
      hasher.append(fate.reason)
      hasher.append(node)
    case .facts(let facts):
      hasher.append("facts")
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
      hasher.append("detection")
      detection.digest(into: &hasher)
    case .classification(let item):
      hasher.append("classification")
      hasher.append(item.label)
      hasher.append(item.score)
    case .scalar(let name, let value):
      hasher.append("scalar")
      hasher.append(name)
      hasher.append(value)
    case .frame(let print):
      // Its digest covers size and format as well (docs/formats/goldens.md).
      hasher.append("frame")
      hasher.append(print.digest)
    case .tensor(let type, let shape, let digest):
      hasher.append("tensor")
      hasher.append(type)
      hasher.append(Int64(shape.count))
      for length in shape { hasher.append(Int64(length)) }
      hasher.append(digest)
    case .waveform(let waveform):
      hasher.append("waveform")
      hasher.append(waveform.name)
      hasher.append(waveform.rate)
      hasher.append(Int64(waveform.samples.count))
      for sample in waveform.samples { hasher.append(sample) }
    case .text(let name, let text):
      hasher.append("text")
      hasher.append(name)
      hasher.append(text)
    case .user(let kind, let digest):
      hasher.append("user")
      hasher.append(kind)
      hasher.append(digest)
    case .observation(let observation):
      hasher.append("observation")
      observation.digest(into: &hasher)
    }
  }
}

extension Detection {
  fileprivate func digest(into hasher: inout DigestHasher) {
    for value in [box.x, box.y, box.width, box.height, score] { hasher.append(value) }
    hasher.append(Int64(classIndex))
    // A tracker may use any number, so no number can represent the absence of an identity.
    hasher.append(Int64(identity == nil ? 0 : 1))
    hasher.append(Int64(identity ?? 0))
    hasher.append(Int64(classes.count))
    for item in classes {
      hasher.append(item.label)
      hasher.append(item.score)
    }
  }
}
