import Foundation
import RetakeCore
import Testing

/// The rules that all documents share. Each document's own tests check its keys and bounds.
@Suite struct StrictDecoderTests {
  private typealias Decoder = StrictDecoder<DocumentProblem>

  /// The pointer, message and advice of the problem that reading a document throws.
  private func problem(
    _ text: String, _ read: (Decoder) throws -> some Any
  ) -> [String] {
    do {
      _ = try read(Decoder(parsing: Data(text.utf8), bytesMax: 1 << 20))
      return []
    } catch {
      guard let error = error as? DocumentProblem else { return ["\(error)"] }
      return [error.pointer, error.message] + (error.advice.map { [$0] } ?? [])
    }
  }

  @Test func `the version is checked before the keys, and the keys before their values`() {
    for (text, expected) in [
      ("[]", ["", "must be an object, is an array"]),
      (#"{"fsp": 1}"#, ["", "'v' is missing", #"Begin with "v": 1"#]),
      (#"{"v": "1", "fsp": 1}"#, ["/v", "must be an integer, is a string"]),
      (
        #"{"v": 2, "fsp": 1}"#,
        [
          "/v", "the document has version 2; this Retake reads version 1",
          #"Update Retake, or write "v": 1"#,
        ]
      ),
      (#"{"v": 1, "fsp": 1}"#, ["/fsp", "unknown key 'fsp'", "Did you mean 'fps'?"]),
      (#"{"v": 1, "z/~": 1}"#, ["/z~1~0", "unknown key 'z/~'", "Known: v, fps"]),
      (#"{"v": 1}"#, ["", "'fps' is missing", #"Add "fps""#]),
      (#"{"v": 1, "fps": null}"#, ["/fps", "must be an integer, is null"]),
      (#"{"v": 1, "fps": 1e19}"#, ["/fps", "is too large; at most 9223372036854775807 is read"]),
      (#"{"v": 1, "fps": 0}"#, ["/fps", "the rate is 1 to 9"]),
      (#"{"v": 1, "fps": 9}"#, []),
    ] {
      let found = problem(text) { decoder in
        try decoder.document(["fps"]).required("fps").integer(in: 1...9, "the rate is 1 to 9")
      }
      #expect(found == expected, "\(text)")
    }
  }

  @Test func `elements and members have places`() {
    let long = String(repeating: "x", count: 100)
    for (text, expected) in [
      (#"{"a/b": ["1s", "2s"], "c": []}"#, []),
      (#"{"c": 1, "a/b": 2}"#, ["/a~1b", "must be an array, is an integer"]),
      (
        #"{"a/b": ["1s", 2]}"#,
        ["/a~1b/1", "a duration has a unit", "Write it like 45ms, 1.5s or 250us"]
      ),
      (
        #"{"\#(long)": ["2"]}"#,
        ["/\(long.prefix(80))…/0", "'2' is not a duration", "Write it like 45ms, 1.5s or 250us"]
      ),
      (#"{"c": [\#(String(repeating: "0,", count: 4_096))0]}"#, ["/c", "more than 4096 elements"]),
    ] {
      let found = problem(text) { decoder in
        for (_, list) in try decoder.members() {
          for element in try list.elements() { _ = try element.duration() }
        }
      }
      #expect(found == expected, "\(text.shortened)")
    }
  }

  @Test func `data that is too large or no JSON is refused`() {
    for (text, message) in [
      (String(repeating: " ", count: 1 + 1 << 20), "the document is larger than 1 MiB"),
      ("{", "line 1, column 2: a key in quotes is expected here"),
    ] {
      #expect(problem(text) { $0.json } == ["", message])
    }
  }
}
