public import RetakeCore

/// The output of a join: the values of its ports, in order.
public struct Joined: PipelineValue {
  /// One port of the join, with its value.
  public struct Part: Sendable {
    /// The port's name, unique in the join.
    public var port: String
    /// `nil` if no value arrived, or not in time.
    public var value: (any PipelineValue)?

    /// A port's value, for a test of a stage that reads a join.
    public init(port: String, value: (any PipelineValue)?) {
      self.port = port
      self.value = value
    }
  }

  /// One for each port, in the order of the join's ports; also for ports without a value.
  public var parts: [Part]

  /// For a test of a stage whose input is a join; runs make their own.
  public init(_ parts: [Part]) {
    self.parts = parts
  }

  /// `joined` without kinds; a stage with this input accepts any join.
  public static var valueKind: ValueKind { .joined([]) }

  /// The value of one port, if it arrived and has that type.
  public func value<Value: PipelineValue>(of port: String, as type: Value.Type) -> Value? {
    parts.first { $0.port == port }?.value as? Value
  }

  /// The values of one type, in the order of the ports.
  public func values<Value: PipelineValue>(_ type: Value.Type) -> [Value] {
    parts.compactMap { $0.value as? Value }
  }

  /// Appends the number of ports, then the name and value of each port.
  public func digest(into hasher: inout DigestHasher) {
    hasher.append(Int64(parts.count))
    for part in parts {
      hasher.append(part.port)
      // A port without a value must not have the same bytes as the next port's value.
      hasher.append(Int64(part.value == nil ? 0 : 1))
      part.value?.digest(into: &hasher)
    }
  }

  /// The facts of all values, in the order of the ports.
  public var facts: [ResultFact] { parts.flatMap { $0.value?.facts ?? [] } }
}
