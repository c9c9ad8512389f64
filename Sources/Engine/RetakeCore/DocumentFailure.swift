import Foundation

/// An error that can describe a problem with a document.
package protocol DocumentFailure: Error {
  init(_ problem: DocumentProblem)
}
