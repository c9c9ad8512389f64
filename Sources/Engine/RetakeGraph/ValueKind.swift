import RetakeCore

/// The type of the values on an edge.
public enum ValueKind: Hashable, Sendable, CustomStringConvertible {
  case frame
  case detections
  case classes
  case scalars
  case waveform
  case tensor
  case bytes
  case observations
  /// The output of a join: one value per port. An input without kinds accepts any join.
  case joined([ValueKind])
  /// One detection with the frame in which it was found. A forEach passes it to its body.
  case region
  /// The output of a forEach whose body does not classify.
  case items
  /// A user's own type.
  case user(name: String, version: Int)

  /// The kind as error messages write it: `frame`, `joined(frame, detections)`.
  public var description: String {
    switch self {
    case .frame: "frame"
    case .detections: "detections"
    case .classes: "classes"
    case .scalars: "scalars"
    case .waveform: "waveform"
    case .tensor: "tensor"
    case .bytes: "bytes"
    case .observations: "observations"
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
