import Foundation
import Synchronization

/// Why a program could not be started.
package struct ChildProcessError: LocalizedError, Hashable {
  package var executable: String
  /// `errno`.
  package var number: Int32

  package var errorDescription: String? {
    "\(executable): \(String(cString: strerror(number)))"
  }
}
