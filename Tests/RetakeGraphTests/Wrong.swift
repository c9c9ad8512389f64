import Foundation
import RetakeCore
import RetakeGraph
import Testing

/// A change that makes a document invalid, and the error for it.
struct Wrong: CustomStringConvertible {
  var old: String
  var new: String
  var code: String
  var pointer: String
  /// A part of the message or the advice.
  var says: String

  init(_ old: String, _ new: String, _ code: String, _ pointer: String, _ says: String) {
    self.old = old
    self.new = new
    self.code = code
    self.pointer = pointer
    self.says = says
  }

  var description: String { "\(old) → \(new)" }

  static func check(_ wrong: [Wrong], in document: String) {
    #expect(throws: Never.self, "the document itself is right") { try Documents.parse(document) }
    for example in wrong {
      #expect(document.contains(example.old), "\(example)")
      let text = document.replacing(example.old, with: example.new)
      let error = #expect(throws: PipelineError.self, "\(example)") { try Documents.parse(text) }
      guard let error else { continue }
      #expect(error.code == "graph.pipeline.\(example.code)", "\(example): \(error)")
      #expect(error.pointer == example.pointer, "\(example): \(error)")
      #expect(error.description.contains(example.says), "\(example): \(error)")
      #expect(error.advice?.isEmpty == false, "\(example) has no advice: \(error)")
    }
  }
}
