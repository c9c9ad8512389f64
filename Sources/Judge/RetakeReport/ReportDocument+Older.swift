import Foundation

/// Reports of the same version from earlier builds, which did not have some lists that were added
/// later.
enum OlderReport {
  /// The keys of lists that may be missing, by the path of their owners. A list on the path stands
  /// for each of its items.
  private static let lists: [(path: [String], keys: [String])] = [
    (["cases"], ["timelines", "tolerances"]),
    (["cases", "timelines"], ["errors", "lanes", "marks"]),
    (["cases", "findings", "items"], ["because"]),
    (["cases", "decisions"], ["groups"]),
    (["cases", "decisions", "groups"], ["because"]),
    (["cases", "decisions", "lines", "items"], ["because"]),
  ]

  /// The same document with missing lists added as empty lists; `nil` if it is not a JSON document.
  static func completed(_ data: Data) -> Data? {
    guard var value = try? JSONSerialization.jsonObject(with: data) else { return nil }
    for (path, keys) in lists { value = completed(value, path[...], keys) }
    value = renamed(value)
    return try? JSONSerialization.data(withJSONObject: value)
  }

  /// Keys and statuses that had another name.
  private static let names = [
    "echoes": "downstream", "thinned": "throttled", "superseded": "replaced",
  ]
  private static let statuses = ["root": "rootCause", "echo": "downstream"]

  private static func renamed(_ value: Any) -> Any {
    if let list = value as? [Any] { return list.map { renamed($0) } }
    guard let object = value as? [String: Any] else { return value }
    var result: [String: Any] = [:]
    for (key, inner) in object {
      let isStatus = key == "status"
      let new = (inner as? String).flatMap { isStatus ? statuses[$0] : nil }
      result[names[key] ?? key] = new ?? renamed(inner)
    }
    return result
  }

  private static func completed(_ value: Any, _ path: ArraySlice<String>, _ keys: [String]) -> Any {
    if let list = value as? [Any] { return list.map { completed($0, path, keys) } }
    // If the value is not an object, the decoder reports the error and its place.
    guard var object = value as? [String: Any] else { return value }
    if let next = path.first {
      if let inner = object[next] { object[next] = completed(inner, path.dropFirst(), keys) }
    } else {
      for key in keys where object[key] == nil { object[key] = [Any]() }
    }
    return object
  }
}
