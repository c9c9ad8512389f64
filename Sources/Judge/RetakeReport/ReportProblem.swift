import Foundation
package import RetakeCore

/// An error as the report shows it.
package struct ReportProblem: Hashable, Sendable, Codable {
  package var code: String
  package var message: String
  package var cause: String?
  package var place: String?
  package var advice: String?

  package init(
    code: String, message: String, cause: String? = nil, place: String? = nil,
    advice: String? = nil
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = place
    self.advice = advice
  }

  package init(_ error: any CodedError) {
    self.init(
      code: error.code, message: error.message, cause: error.cause,
      place: error.place.map(\.description), advice: error.advice)
  }
}
