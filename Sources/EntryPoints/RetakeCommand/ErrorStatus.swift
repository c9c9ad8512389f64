import Foundation
import Retake

/// The exit status of a command that ends with an error.
enum ErrorStatus {
  static func of(_ error: any CodedError) -> ExitStatus {
    switch (error as? any RetakeError)?.facts.kind {
    case .nothingSelected: .nothingCompared
    case .interrupted: .interrupted
    // A failure after the request may follow from it, so it is not reported as an error.
    case _ where Interruption.isRequested: .interrupted
    case .usage: .usage
    case .error, .memory, nil: .error
    }
  }
}
