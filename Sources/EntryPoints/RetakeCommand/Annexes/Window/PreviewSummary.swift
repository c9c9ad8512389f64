import ArgumentParser
import Retake

/// How many frames were shown, and how late, in words and as JSON.
struct PreviewSummary: Encodable {
  var text: String
  var figures: any Encodable & Sendable

  func encode(to encoder: any Encoder) throws { try figures.encode(to: encoder) }
}
