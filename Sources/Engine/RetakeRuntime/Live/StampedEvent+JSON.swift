import Foundation
package import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The form of external events in a session: a kind, and a JSON object that names nodes by ID, such
/// as `{"frame":"0:12","node":"motion","outcome":"done"}`.
extension StampedEvent {
  /// - Parameter nodes: The IDs of the nodes, by number.
  package func json(nodes: [String]) -> JSONValue {
    var members = event.members(nodes: nodes)
    if !gates.isEmpty {
      members["gates"] = .array(
        gates.map {
          .object([
            "frame": .string($0.frame.description), "node": .string(nodes[$0.node]),
            "value": .integer(Int64($0.value)),
          ])
        })
    }
    return .object(members)
  }

  /// Reads the form that `json` writes.
  ///
  /// - Throws: `RuntimeError.badExternalEvent`.
  package init(
    ordinal: Int, nanoseconds: Int64, kind: String, text: String, nodes: [String: Int]
  ) throws {
    let reader = ExternalEventReader(ordinal: ordinal, nodes: nodes)
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Data(text.utf8))
    } catch is DecodingError {
      throw RuntimeError.badExternalEvent(ordinal: ordinal, detail: "it is not JSON")
    }
    self.init(
      ordinal: ordinal, nanoseconds: nanoseconds, event: try reader.event(kind, json),
      gates: try reader.gates(json))
  }
}

extension ExternalEvent {
  fileprivate func members(nodes: [String]) -> [String: JSONValue] {
    switch self {
    case .arrival(let frame), .allocationFailed(let frame):
      return ["frame": .string(frame.description)]
    case .completion(let body, let outcome):
      var members: [String: JSONValue] = [
        "node": .string(nodes[body.node]), "frame": .string(body.frame.description),
      ]
      if body.item >= 0 { members["item"] = .integer(Int64(body.item)) }
      switch outcome {
      case .success: members["outcome"] = .string(CostSpan.done)
      case .failure(let error):
        members["outcome"] = .string(error.code)
        members["message"] = .string(
          String(error.message.prefix(StageFailure.messageCharactersMax)))
        if error.severity == .unrecoverable { members["halts"] = .bool(true) }
      }
      return members
    case .timer: return [:]
    case .leaseEnded(let sink, let frame):
      return ["node": .string(nodes[sink]), "frame": .string(frame.description)]
    case .environment(let event):
      return ["event": .string(event.kind.rawValue), "state": event.json]
    case .command(.swap(let node, let kind, let options)):
      return [
        "command": .string("swap"), "node": .string(nodes[node]), "kind": .string(kind),
        "options": options,
      ]
    case .swapReady(let index, let refusal):
      var members: [String: JSONValue] = ["swap": .integer(Int64(index))]
      if let refusal { members["code"] = .string(refusal) }
      return members
    case .sourceLost(let track, let code):
      return ["track": .integer(Int64(track)), "code": .string(code)]
    }
  }
}

/// Reads one row of a session's `external_event` table.
private struct ExternalEventReader {
  let ordinal: Int
  let nodes: [String: Int]

  func event(_ word: String, _ json: JSONValue) throws -> ExternalEvent {
    guard let kind = ExternalEvent.Kind(rawValue: word) else {
      throw bad("there is no kind '\(word)'")
    }
    switch kind {
    case .arrival: return .arrival(try frame(json))
    case .allocationFailed: return .allocationFailed(try frame(json))
    case .completion: return try completion(json)
    case .timer: return .timer
    case .leaseEnded: return .leaseEnded(sink: try node(json), try frame(json))
    case .environment: return try environment(json)
    case .command:
      guard case .string("swap") = json["command"] else { throw bad("it is not a known command") }
      return .command(
        .swap(
          node: try node(json), kind: try text("kind", json), options: json["options"] ?? .null))
    case .swapPrepared: return .swapReady(index: try integer("swap", json), refusal: nil)
    case .swapRefused:
      return .swapReady(index: try integer("swap", json), refusal: try text("code", json))
    case .sourceLost:
      return .sourceLost(track: try integer("track", json), code: try text("code", json))
    }
  }

  func gates(_ json: JSONValue) throws -> [GateValue] {
    guard let values = json["gates"] else { return [] }
    guard case .array(let elements) = values else { throw bad("its gates are not an array") }
    var gates: [GateValue] = []
    for element in elements {
      gates.append(
        GateValue(
          node: try node(element), frame: try frame(element),
          value: try integer("value", element)))
    }
    return gates
  }

  private func completion(_ json: JSONValue) throws -> ExternalEvent {
    let item = json["item"] == nil ? -1 : try integer("item", json)
    let body = BodyName(node: try node(json), frame: try frame(json), item: item)
    let outcome = try text("outcome", json)
    guard outcome != CostSpan.done else { return .completion(body, .success) }
    guard !outcome.isEmpty, !outcome.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) else {
      throw bad("its outcome is not a code")
    }
    let message = json["message"] == nil ? "the live run failed here" : try text("message", json)
    let error = StageError(
      code: outcome, message: message,
      severity: json["halts"] == .bool(true) ? .unrecoverable : .recoverable)
    return .completion(body, .failure(error))
  }

  private func environment(_ json: JSONValue) throws -> ExternalEvent {
    let word = try text("event", json)
    do {
      return .environment(try DeviceEvent(kind: word, json: json["state"] ?? .null))
    } catch let error as DeviceEventError {
      throw bad(error.detail)
    }
  }

  private func node(_ json: JSONValue) throws -> Int {
    let id = try text("node", json)
    guard let node = nodes[id] else { throw bad("the pipeline has no node '\(id)'") }
    return node
  }

  private func frame(_ json: JSONValue) throws -> FrameID {
    let parts = try text("frame", json).split(separator: ":").map { Int($0) }
    guard parts.count == 2, let track = parts[0], let sequence = parts[1], track >= 0,
      sequence >= 0
    else { throw bad("its frame is not TRACK:SEQUENCE, such as 0:12") }
    return FrameID(track: track, sequence: sequence)
  }

  private func text(_ key: String, _ json: JSONValue) throws -> String {
    guard case .string(let text) = json[key] else { throw bad("'\(key)' is not a string") }
    return text
  }

  private func integer(_ key: String, _ json: JSONValue) throws -> Int {
    guard case .integer(let number) = json[key], let number = Int32(exactly: number), number >= 0
    else { throw bad("'\(key)' is not a number from 0 to 2^31") }
    return Int(number)
  }

  private func bad(_ detail: String) -> RuntimeError {
    .badExternalEvent(ordinal: ordinal, detail: detail)
  }
}
