public import RetakeBuffers
public import RetakeCore

/// The inputs and outputs of stages: the closed set of kinds of this module, and users'
/// `StageValue` types.
public protocol PipelineValue: Sendable {
  /// The kind of the value. An edge is valid only if the receiver accepts this kind.
  static var valueKind: ValueKind { get }
  /// Appends the value's canonical bytes; equal values append equal bytes.
  func digest(into hasher: inout DigestHasher)
  /// XXH3-128 of the canonical bytes.
  var digest: Digest128 { get }
  /// The facts that a results sink writes for this value.
  var facts: [ResultFact] { get }
}

extension PipelineValue {
  /// XXH3-128 of the canonical bytes.
  public var digest: Digest128 {
    var hasher = DigestHasher()
    digest(into: &hasher)
    return hasher.finish()
  }
}

extension Frame: PipelineValue {
  /// `frame`.
  public static var valueKind: ValueKind { .frame }

  /// One `frame` fact: size, format and digest of the image.
  public var facts: [ResultFact] {
    [
      .frame(
        FramePrint(
          width: width, height: height, format: format.rawValue, range: range.rawValue,
          matrix: matrix.rawValue, digest: digest))
    ]
  }
}

extension Detections: PipelineValue {
  /// `detections`.
  public static var valueKind: ValueKind { .detections }

  /// Appends the class names and the detections, in their order.
  public func digest(into hasher: inout DigestHasher) {
    // Accepted goldens have digests of these bytes: in another order or form, all of them would
    // differ.
    hasher.append(Int64(classNames.count))
    for name in classNames { hasher.append(name) }
    hasher.append(Int64(items.count))
    for item in items {
      for value in [item.box.x, item.box.y, item.box.width, item.box.height, item.score] {
        hasher.append(value)
      }
      hasher.append(Int64(item.classIndex))
      hasher.append(Int64(item.identity ?? -1))
      Classes(item.classes).digest(into: &hasher)
    }
  }

  /// One `detection` for each item, in the same order.
  public var facts: [ResultFact] { items.map { .detection($0) } }
}

extension Classes: PipelineValue {
  /// `classes`.
  public static var valueKind: ValueKind { .classes }

  /// Appends label and score of each item, in their order.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(items.count))
    for item in items {
      hasher.append(item.label)
      hasher.append(item.score)
    }
  }

  /// One `classification` for each item, in the same order.
  public var facts: [ResultFact] { items.map { .classification($0) } }
}

extension Scalars: PipelineValue {
  /// `scalars`.
  public static var valueKind: ValueKind { .scalars }

  /// Appends name and value of each entry, in their order.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(entries.count))
    for entry in entries {
      hasher.append(entry.name)
      hasher.append(entry.value)
    }
  }

  /// One `scalar` for each entry, in the same order.
  public var facts: [ResultFact] { entries.map { .scalar(name: $0.name, value: $0.value) } }
}

extension Waveform: PipelineValue {
  /// `waveform`.
  public static var valueKind: ValueKind { .waveform }

  /// Appends name, rate and samples.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(name)
    hasher.append(rate)
    hasher.append(Int64(samples.count))
    for sample in samples { hasher.append(sample) }
  }

  /// One `waveform` with all samples.
  public var facts: [ResultFact] { [.waveform(self)] }
}

extension Tensor: PipelineValue {
  /// `tensor`.
  public static var valueKind: ValueKind { .tensor }

  /// Appends the shape, then the elements.
  public func digest(into hasher: inout DigestHasher) {
    // The count tells where the shape ends and the elements begin.
    hasher.append(Int64(shape.count))
    for length in shape { hasher.append(Int64(length)) }
    for element in elements { hasher.append(element) }
  }

  /// One `tensor` with type `f32`, the shape and the digest of the elements.
  public var facts: [ResultFact] { [.tensor(type: "f32", shape: shape, digest: digest)] }
}

extension Observations: PipelineValue {
  /// `observations`.
  public static var valueKind: ValueKind { .observations }

  /// Appends the content of each item, in their order.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(items.count))
    for item in items { item.digest(into: &hasher) }
  }

  /// One `observation` for each item, in the same order.
  public var facts: [ResultFact] { items.map { .observation($0) } }
}

extension Bytes: PipelineValue {
  /// `bytes`.
  public static var valueKind: ValueKind { .bytes }

  /// Appends name, length and content.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(name)
    hasher.append(Int64(content.count))
    hasher.append(content)
  }

  /// One `user` fact with the name as its kind and the digest of the content.
  public var facts: [ResultFact] { [.user(kind: name, digest: digest)] }
}
