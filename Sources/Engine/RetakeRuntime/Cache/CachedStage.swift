import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A pure stage whose outputs are cached. The key of an output is computed from the stage's input.
struct CachedStage: Sendable {
  /// Digest of the stage's kind, version, options and fingerprint, and of the code and libraries.
  let identity: Digest128
  /// `nil` for a stage that outputs frames.
  let form: ValueForm?

  /// - Returns: `nil` for stages without an identity, and for outputs that cannot be stored.
  init?(_ stage: AnyStage, code: Digest128) {
    guard case .pure = stage.body, stage.isExportable else { return nil }
    form = stage.outputForm
    guard form != nil || stage.signature.output == .frame else { return nil }
    var hasher = DigestHasher()
    hasher.append("stage 1")
    hasher.append(stage.signature.kind)
    hasher.append(stage.signature.version)
    hasher.append(stage.options.canonicalText)
    hasher.append(stage.fingerprint)
    hasher.append(code)
    identity = hasher.finish()
  }

  var givesFrames: Bool { form == nil }

  /// - Parameter input: The digest of everything that the stage can see of its input.
  func key(input: Digest128, _ context: StageContext) -> Digest128 {
    var hasher = DigestHasher()
    hasher.append(identity)
    hasher.append(input)
    hasher.append(context.frame.track)
    hasher.append(context.frame.sequence)
    hasher.append(context.timestamp.nanoseconds)
    hasher.append(context.item ?? -1)
    return hasher.finish()
  }
}

/// One call of a cached stage. Failures are not stored, because another run may succeed.
struct CachedCall: Sendable {
  let cache: any ValueCache
  let stage: CachedStage
  let demand: FrameDemand
  let context: StageContext
  let call: StageCall

  private var track: Int { context.frame.track }

  func outcome(_ inputs: InputOutcomes) -> ValueOutcome {
    guard let input = inputs.unresolved(0).inputDigest else { return compute(inputs) }
    let key = stage.key(input: input, context)
    if let record = cache.record(key, track: track), let known = known(record, inputs) {
      cache.count(isKnown: true)
      return known
    }
    cache.count(isKnown: false)
    let outcome = compute(inputs)
    keep(outcome, under: key)
    return outcome
  }

  /// The stored value for an input, and the key under which a computed one is kept; for stages that
  /// output no frames.
  func stored(for input: ValueOutcome) -> (key: Digest128?, value: ValueOutcome?) {
    guard let digest = input.inputDigest else { return (nil, nil) }
    let key = stage.key(input: digest, context)
    var value: ValueOutcome?
    if case .value(let bytes)? = cache.record(key, track: track) {
      value = (try? stage.form?.decode(bytes[...])).map { .value($0) }
    }
    cache.count(isKnown: value != nil)
    return (key, value)
  }

  private func compute(_ inputs: InputOutcomes) -> ValueOutcome {
    inputs[0].map(context, call)
  }

  private func known(_ record: CachedRecord, _ inputs: InputOutcomes) -> ValueOutcome? {
    switch record {
    case .frame(let outline):
      guard stage.givesFrames else { return nil }
      return .later(
        .known(outline, demand: demand, by: cache, track: track) { compute(inputs) })
    case .value(let bytes):
      return (try? stage.form?.decode(bytes[...])).map { .value($0) }
    }
  }

  func keep(_ outcome: ValueOutcome, under key: Digest128) {
    guard case .value(let value) = outcome else { return }
    if let frame = value as? Frame {
      cache.keep(.frame(FrameOutline(frame)), under: key, track: track)
      if demand.keepsPixels { cache.keepPixels(of: frame, track: track) }
    } else if let bytes = stage.form?.encode(value) {
      cache.keep(.value(bytes), under: key, track: track)
    }
  }
}

extension ValueOutcome {
  /// Digest of everything that a stage can see of this input; `nil` if there is no value.
  var inputDigest: Digest128? {
    switch self {
    case .later(let frame): frame.inputDigest
    case .value(let value): value.inputDigest
    case .failure, .fault, .cancelled: nil
    }
  }
}

extension FrameOutline {
  /// Covers more than the digest of a result: a stage may read the rotation or the time.
  var inputDigest: Digest128 {
    var writer = ByteWriter()
    write(to: &writer)
    return Digest128(of: writer.bytes)
  }
}

extension PipelineValue {
  fileprivate var inputDigest: Digest128 {
    var hasher = DigestHasher()
    switch self {
    case let frame as Frame: return FrameOutline(frame).inputDigest
    case let region as Region:
      hasher.append(Detections([region.detection], classNames: []).digest)
      hasher.append(region.frame.inputDigest)
    case let joined as Joined:
      for part in joined.parts {
        hasher.append(part.port)
        hasher.append(part.value?.inputDigest ?? .zero)
      }
    case let items as Items:
      hasher.append(items.detections.digest)
      for outcome in items.outcomes {
        switch outcome {
        case .value(let value): hasher.append(value.inputDigest)
        case .failed(let code): hasher.append(code)
        }
      }
    default: return digest
    }
    return hasher.finish()
  }
}
