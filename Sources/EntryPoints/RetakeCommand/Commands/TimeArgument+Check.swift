import ArgumentParser
import Retake

extension TimeArgument {
  /// - Throws: `ValidationError` that names the option and shows a valid time.
  static func check(_ text: String?, of option: String) throws {
    guard let text, parse(text) == nil else { return }
    throw ValidationError("'\(option) \(text)' is not a time; \(advice)")
  }
}
