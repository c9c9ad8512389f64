public import RetakeBuffers
public import RetakeCore

/// The type of the values on an edge.
public enum ValueKind: Hashable, Sendable, CustomStringConvertible {
  case frame
  case detections
  case classes
  case scalars
  case waveform
  case tensor
  case bytes
  /// The output of a join: one value per port. An input without kinds accepts any join.
  case joined([ValueKind])
  /// One detection with the frame in which it was found. A forEach passes it to its body.
  case region
  /// The output of a forEach whose body does not classify.
  case items
  /// A user's own type.
  case user(name: String, version: Int)

  public var description: String {
    switch self {
    case .frame: "frame"
    case .detections: "detections"
    case .classes: "classes"
    case .scalars: "scalars"
    case .waveform: "waveform"
    case .tensor: "tensor"
    case .bytes: "bytes"
    case .joined(let kinds):
      kinds.isEmpty ? "joined" : "joined(\(kinds.map(\.shortText).joined(separator: ", ")))"
    case .region: "region"
    case .items: "items"
    case .user(let name, let version): "\(name)@\(version)"
    }
  }

  /// The description of a join inside a join, without its kinds, which may be many.
  private var shortText: String {
    if case .joined = self { return "joined" }
    return description
  }
}

/// The inputs and outputs of stages: the closed set of kinds of this module, and users'
/// `StageValue` types.
public protocol PipelineValue: Sendable {
  /// The kind by which edges are checked: a stage accepts only values of its input's kind.
  static var valueKind: ValueKind { get }
  /// Appends the value's canonical bytes; equal values append equal bytes.
  func digest(into hasher: inout DigestHasher)
  /// XXH3-128 of the canonical bytes.
  var digest: Digest128 { get }
  /// What a results sink writes for this value.
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

/// A user's own value. Its name, version and canonical bytes make it digestible and storable.
public protocol StageValue: PipelineValue {
  /// Unique among the values of a pipeline, such as `"lane-markings"`.
  static var typeName: String { get }
  /// Must be increased whenever the meaning of the bytes changes.
  static var typeVersion: Int { get }
  /// The value as bytes; equal values give equal bytes.
  func encoded() -> [UInt8]
  /// The inverse of `encoded`.
  ///
  /// - Throws: Any error, if the bytes are not a value of this type.
  init(decoding bytes: [UInt8]) throws
}

extension StageValue {
  /// `ValueKind.user`, with the type's name and version.
  public static var valueKind: ValueKind { .user(name: typeName, version: typeVersion) }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(encoded())
  }

  public var facts: [ResultFact] {
    [.user(kind: "\(Self.typeName)@\(Self.typeVersion)", digest: digest)]
  }
}

extension Frame: PipelineValue {
  public static var valueKind: ValueKind { .frame }

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
  public static var valueKind: ValueKind { .detections }

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

  public var facts: [ResultFact] { items.map { .detection($0) } }
}

extension Classes: PipelineValue {
  public static var valueKind: ValueKind { .classes }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(items.count))
    for item in items {
      hasher.append(item.label)
      hasher.append(item.score)
    }
  }

  public var facts: [ResultFact] { items.map { .classification($0) } }
}

extension Scalars: PipelineValue {
  public static var valueKind: ValueKind { .scalars }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(entries.count))
    for entry in entries {
      hasher.append(entry.name)
      hasher.append(entry.value)
    }
  }

  public var facts: [ResultFact] { entries.map { .scalar(name: $0.name, value: $0.value) } }
}

extension Waveform: PipelineValue {
  public static var valueKind: ValueKind { .waveform }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(name)
    hasher.append(rate)
    hasher.append(Int64(samples.count))
    for sample in samples { hasher.append(sample) }
  }

  public var facts: [ResultFact] { [.waveform(self)] }
}

extension Tensor: PipelineValue {
  public static var valueKind: ValueKind { .tensor }

  public func digest(into hasher: inout DigestHasher) {
    // The count tells where the shape ends and the elements begin.
    hasher.append(Int64(shape.count))
    for length in shape { hasher.append(Int64(length)) }
    for element in elements { hasher.append(element) }
  }

  public var facts: [ResultFact] { [.tensor(type: "f32", shape: shape, digest: digest)] }
}

extension Bytes: PipelineValue {
  public static var valueKind: ValueKind { .bytes }

  public func digest(into hasher: inout DigestHasher) {
    hasher.append(name)
    hasher.append(Int64(content.count))
    hasher.append(content)
  }

  public var facts: [ResultFact] { [.user(kind: name, digest: digest)] }
}
