import Foundation
import RetakeCore
import RetakeRuntime
import RetakeTimePlane

extension DeviceProfile {
  /// The largest document that is read, in bytes.
  static let documentBytesMax = 1 << 20

  /// Reads a JSON document.
  ///
  /// - Parameter name: The file's name in messages; its path if `nil`.
  /// - Throws: `ReplayError.profile` with the JSON pointer of the problem.
  package init(reading path: String, named name: String? = nil) throws(ReplayError) {
    let bytes: [UInt8]
    do throws(InputFile.Failure) {
      let file = try InputFile(path)
      defer { file.close() }
      // One byte more than allowed shows that the document is too large, without reading all of it.
      bytes = try file.read(upTo: Self.documentBytesMax + 1)
    } catch {
      throw .profile(.unreadable(cause: error.cause), path: name ?? path)
    }
    do throws(ProfileProblem) {
      guard bytes.count <= Self.documentBytesMax else {
        throw ProfileProblem("the document is larger than 1 MiB", at: "")
      }
      self = try ProfileReader().profile(try Self.json(Data(bytes)))
    } catch {
      throw .profile(error.fault, path: name ?? path)
    }
  }

  private static func json(_ data: Data) throws(ProfileProblem) -> JSONValue {
    do throws(DecodingError) {
      return try JSONValue(parsing: data)
    } catch {
      let text = error.shortText.prefix(200).reversed().drop { $0 == "." }.reversed()
      throw ProfileProblem(String(text), at: error.pointer)
    }
  }
}

/// A problem in a profile that becomes a `ReplayError`.
private struct ProfileProblem: DocumentFailure {
  var fault: ProfileFault

  init(_ problem: DocumentProblem) {
    let (message, advice): (String, String?) =
      switch problem.reason {
      case .unknownKey(let key, let advice): ("unknown key '\(key)'", advice)
      case .missingKey(let key): ("'\(key)' is missing", nil)
      case .wrongValue(let detail, let advice): (detail, advice)
      case .tooLarge(let detail): (detail, nil)
      }
    fault = .malformed(message: message, advice: advice, pointer: problem.pointer)
  }

  init(_ detail: String, advice: String? = nil, at pointer: String) {
    self.init(DocumentProblem(reason: .wrongValue(detail, advice: advice), pointer: pointer))
  }
}

/// Converts the content of a profile to a `DeviceProfile`, and checks each key.
private struct ProfileReader {
  typealias Fields = DocumentFields<ProfileProblem>

  static let keys = ["v", "name", "scale", "executors", "pools", "thermal"]
  /// The limits of pipelines: see `Pipeline.checkNumbers`.
  static let serversMax = 1_024
  static let buffersMax = 4_096

  func profile(_ json: JSONValue) throws(ProfileProblem) -> DeviceProfile {
    // First of all: a later version may have other keys, and "unknown key" would mislead its
    // reader.
    if case .integer(let version)? = json["v"], version != 1 {
      throw ProfileProblem(
        "the profile has version \(version); this Retake reads version 1",
        advice: "Update Retake, or write \"v\": 1", at: "/v")
    }
    let fields = try Fields(json, at: "", keys: Self.keys)
    guard try fields.integer("v") != nil else {
      throw ProfileProblem("'v' is missing", advice: "Begin with \"v\": 1", at: "")
    }
    var profile = DeviceProfile(name: try fields.required("name"))
    guard profile.name.isSafeName else {
      throw ProfileProblem(
        "'\(profile.name)' cannot be a profile's name",
        advice: "Use up to 64 letters, digits, '-', '_' and '.'", at: "/name")
    }
    for (node, json) in try members(fields, "scale") {
      profile.scale[node] = try ratio(json, at: "/scale/\(node.pointerEscaped)")
    }
    profile.executors = try counts(fields, "executors", "servers", max: Self.serversMax)
    profile.pools = try counts(fields, "pools", "buffers", max: Self.buffersMax)
    profile.thermal = try thermal(fields)
    return profile
  }

  /// An object's members, in the order of their names.
  private func members(
    _ fields: Fields, _ key: String
  ) throws(ProfileProblem) -> [(String, JSONValue)] {
    guard let json = fields.value(key) else { return [] }
    guard case .object(let members) = json else {
      throw ProfileProblem("must be an object, is \(json.kindText)", at: "/\(key)")
    }
    guard members.count <= DocumentProblem.elementsMax else {
      throw ProfileProblem("more than \(DocumentProblem.elementsMax) members", at: "/\(key)")
    }
    // Sorted, so that of several errors the same one is reported in every run.
    return members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func ratio(
    _ json: JSONValue, at pointer: String
  ) throws(ProfileProblem) -> DecimalRatio {
    guard let ratio = DecimalRatio(json) else {
      throw ProfileProblem(
        "a scale is \(DecimalRatio.rangeText)", advice: "2 is twice as slow, 0.5 twice as fast",
        at: pointer)
    }
    return ratio
  }

  private func counts(
    _ fields: Fields, _ key: String, _ what: String, max: Int
  ) throws(ProfileProblem) -> [String: Int] {
    var result: [String: Int] = [:]
    for (id, json) in try members(fields, key) {
      guard case .integer(let value) = json, (1...max).contains(Int(value)) else {
        throw ProfileProblem(
          "the number of \(what) is 1 to \(max)", at: "/\(key)/\(id.pointerEscaped)")
      }
      result[id] = Int(value)
    }
    return result
  }

  private func thermal(_ document: Fields) throws(ProfileProblem) -> [DeviceProfile.ThermalStep] {
    var steps: [DeviceProfile.ThermalStep] = []
    for (index, json) in try document.array("thermal").enumerated() {
      let pointer = "/thermal/\(index)"
      let fields = try Fields(json, at: pointer, keys: ["after", "scale"])
      let after = try fields.duration("after")
      // Two steps at one time would leave open which of them holds.
      guard steps.last.map({ $0.after < after }) ?? true else {
        throw ProfileProblem(
          "the steps come in the order of their time", at: "\(pointer)/after")
      }
      guard let scale = fields.value("scale") else {
        throw ProfileProblem("'scale' is missing", at: pointer)
      }
      steps.append(.init(after: after, scale: try ratio(scale, at: "\(pointer)/scale")))
    }
    return steps
  }
}
