import RetakeBuffers
import RetakeCore

/// What a program says about itself before its first frame.
struct ForeignReady: Hashable {
  /// The version of the protocol that this Retake speaks.
  static let protocolVersion = 1

  enum State: String, CaseIterable {
    /// The output depends on the frame alone.
    case pure
    /// The program remembers earlier frames.
    case stateful
  }

  var name: String
  /// Counted up by the author when the same frame gives another output.
  var version: Int
  /// Anything else on which the output depends.
  var fingerprint: String
  /// Formats that the program accepts, best first; empty = any.
  var formats: [PixelFormat]
  var classNames: [String]
  var state: State

  /// Keys that are not known belong to later versions, and are not read.
  ///
  /// - Throws: `DocumentProblem` with the pointer inside the message.
  init(_ json: JSONValue, output: ForeignOutput) throws(DocumentProblem) {
    let fields = StrictDecoder<DocumentProblem>(json, at: "/ready")
    let spoken = try fields.required("v")
    guard try spoken.integer() == Self.protocolVersion else {
      throw spoken.wrong(
        "the program speaks version \(try spoken.integer()) of the protocol; "
          + "this Retake speaks \(Self.protocolVersion)")
    }
    name = try fields.required("name").string()
    version = try fields.required("version").integer(
      in: 0...Int.max, "a version is 0 or more")
    let returned: ForeignOutput = try fields.required("output").choice("an output")
    guard returned == output else {
      throw fields.wrong(
        "the program returns \(returned.rawValue), and the stage's output is \(output.rawValue)")
    }
    state = try fields.required("state").choice("a state")
    fingerprint = try fields["fingerprint"]?.string() ?? ""
    formats = try fields.elements("formats").map { element throws(DocumentProblem) in
      try element.choice("a pixel format")
    }
    classNames = try fields.strings("classNames")
    // Read so that a mistake is found now; this version always waits, for one frame at a time.
    _ = try fields["fails"]?.bool()
    _ = try fields["window"]?.integer(in: 1...Int.max, "a window is 1 or more")
  }
}
