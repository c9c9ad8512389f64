package import Foundation
package import RetakeCompare
import RetakeCore

/// Reads the pixels of a kept image.
package protocol ImageSource: Sendable {
  /// `nil` for a file that is not an image.
  func pixels(of file: URL) -> ImagePixels?
}
