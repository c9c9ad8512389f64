package import RetakeCore

/// A change that a case makes in addition to the session's content.
///
/// The string form, for `--override` and for `overrides` in retake.yml:
/// ```
/// thermal=serious@12s            memory=warning@3.5s      orientation=landscapeLeft@1s
/// temperature=45.5C@12s
/// battery=15@3s                  battery=15,charging@3s   battery=15,lowPower@3s
/// swap:motion@4s={"threshold": 30}
/// swap:motion@frame100,prepare=80ms={"threshold": 30}
/// camera:drop=10%,freeze=300ms,jitter=20ms,seed=1
/// ```
/// Times are virtual, from the replay's origin. `frame100` is the moment at which the frame with
/// the sequence 100 of the node's own track arrives; `frame1:100` also names the track. A swap
/// changes the options that it names and keeps the others.
package enum CaseOverride: Hashable, Sendable {
  case event(atNanoseconds: Int64, DeviceEvent)
  case swap(OptionSwap)
  case camera(CameraFaults)

  package var isEvent: Bool {
    if case .event = self { true } else { false }
  }

  /// New values for options of a node.
  package struct OptionSwap: Hashable, Sendable {
    package enum Moment: Hashable, Sendable {
      /// Virtual time from the replay's origin.
      case nanoseconds(Int64)
      /// The arrival of a frame; `nil` = on the track of the node's source.
      case frame(track: Int?, sequence: Int)
    }

    package var moment: Moment
    /// The node's ID; inside a forEach `x/NODE`.
    package var node: String
    package var options: [String: JSONValue]
    /// Virtual time of the preparation.
    package var prepare: Duration

    package init(
      at moment: Moment, node: String, options: [String: JSONValue], prepare: Duration = .zero
    ) {
      self.moment = moment
      self.node = node
      self.options = options
      self.prepare = prepare
    }
  }
}

/// The canonical form of overrides in a golden's key.
extension CaseOverride {
  /// The kind and the time of the override: `thermal@12s`, `swap:motion@frame100`.
  package var key: String {
    switch self {
    case .event(let time, let event):
      "\(event.kind.rawValue)@\(Duration.nanoseconds(time).unitText)"
    case .swap(let swap): "swap:\(swap.node)@\(swap.moment.text)"
    case .camera: "camera"
    }
  }

  /// The rest: a state, the battery's state, or the options with the preparation time if there is
  /// one.
  package var value: JSONValue {
    switch self {
    case .event(_, let event): return event.json["state"] ?? event.json
    case .swap(let swap):
      var members: [String: JSONValue] = ["options": .object(swap.options)]
      if swap.prepare != .zero { members["prepare"] = .string(swap.prepare.unitText) }
      return .object(members)
    case .camera(let faults): return .string(faults.text)
    }
  }

  /// The string form; parsing it returns the same override.
  package var text: String {
    switch self {
    case .event(let time, let event):
      return "\(event.kind.rawValue)=\(event.words)@\(Duration.nanoseconds(time).unitText)"
    case .swap(let swap):
      let prepare = swap.prepare == .zero ? "" : ",prepare=\(swap.prepare.unitText)"
      return "\(key)\(prepare)=\(JSONValue.object(swap.options).canonicalText)"
    case .camera(let faults): return CameraFaults.word + faults.text
    }
  }

  /// The overrides in a canonical order: by time, overrides at a frame last, then by their keys. So
  /// the order in which they are written makes no difference.
  ///
  /// - Throws: `ReplayError.badOverride` if two overrides have the same key.
  package static func ordered(_ overrides: [Self]) throws -> [Self] {
    let sorted = overrides.sorted {
      // When a frame arrives is only known in the run, so swaps at a frame have no time to sort by.
      let (left, right) = ($0.nanoseconds ?? .max, $1.nanoseconds ?? .max)
      return left != right ? left < right : $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }
    // Equal keys have equal times, so they are next to each other.
    for (first, second) in zip(sorted, sorted.dropFirst()) where first.key == second.key {
      throw ReplayError.badOverride(
        second.text, detail: "there are two for \(first.key)", advice: "Keep one of them")
    }
    return sorted
  }

  /// By key, for a golden.
  package static func byKey(_ overrides: [Self]) -> [String: JSONValue] {
    // No key is lost: `ordered` has refused two overrides of the same key.
    Dictionary(overrides.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// The overrides for a span of the session that becomes a session. Changes from before the span
  /// are in force from its beginning on.
  ///
  /// - Parameters:
  ///   - nanoseconds: Virtual time from the session's origin to the span's.
  ///   - first: By track, the sequence of the span's first frame.
  /// - Throws: `ReplayError.badOverride` for faults of a camera.
  package static func shifted(
    _ overrides: [Self], by nanoseconds: Int64, first: [Int: Int]
  ) throws -> [Self] {
    var result: [Self] = []
    for entry in try ordered(overrides) {
      let shifted: Self
      switch entry {
      case .event(let time, let event):
        shifted = .event(atNanoseconds: max(0, time - nanoseconds), event)
      case .swap(var swap):
        switch swap.moment {
        case .nanoseconds(let time): swap.moment = .nanoseconds(max(0, time - nanoseconds))
        case .frame(let track, let sequence):
          let number = sequence - (first[track ?? first.keys.min() ?? 0] ?? 0)
          swap.moment = number < 0 ? .nanoseconds(0) : .frame(track: track, sequence: number)
        }
        shifted = .swap(swap)
      case .camera(let faults):
        throw ReplayError.badOverride(
          CameraFaults.word + faults.text,
          detail: "the faults of a camera are drawn for the frames of the complete session",
          advice: "Leave out the override: a span has other frames, and so other faults")
      }
      // Of several changes from before the span, the last is in force.
      result.removeAll { $0.key == shifted.key }
      result.append(shifted)
    }
    return result
  }

  /// The time at which it takes effect; `nil` at a frame.
  var nanoseconds: Int64? {
    switch self {
    case .event(let time, _): return time
    case .swap(let swap):
      guard case .nanoseconds(let time) = swap.moment else { return nil }
      return time
    case .camera: return nil
    }
  }
}

extension CaseOverride.OptionSwap.Moment {
  fileprivate var text: String {
    switch self {
    case .nanoseconds(let time): Duration.nanoseconds(time).unitText
    case .frame(let track?, let sequence): "frame\(track):\(sequence)"
    case .frame(nil, let sequence): "frame\(sequence)"
    }
  }
}

extension DeviceEvent {
  /// The state in the string form of an override.
  fileprivate var words: String {
    switch self {
    case .thermal(let state): state.rawValue
    case .temperature(let reading): reading.description
    case .memory(let pressure): pressure.rawValue
    case .orientation(let side): side.rawValue
    case .battery(let state):
      "\(state.level)" + (state.isCharging ? ",charging" : "")
        + (state.isLowPower ? ",lowPower" : "")
    }
  }
}
