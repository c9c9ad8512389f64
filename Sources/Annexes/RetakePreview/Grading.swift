import Foundation

/// A program's own color grading: code that OpenGL runs for each pixel of an image, between its
/// conversion to red, green and blue and the screen.
///
/// ```swift
/// let warm = Grading("vec3 grade(vec3 rgb, vec2 at) { return rgb * vec3(1.1, 1.0, 0.9); }")
/// let preview = try LivePreview(feed, title: "warm", grading: warm)
/// ```
///
/// It is GLSL of version 1.20 and of GLSL ES 1.00, and has a function
/// `vec3 grade(vec3 rgb, vec2 at)`: the color of a pixel, 0 to 1, and its place in the image, 0 to
/// 1 from the top left corner. It can use `rgbAt(vec2)`, the color of another place;
/// `ycbcrAt(vec2)`, the luma and chroma samples there as they are in the frame, 0 to 1;
/// `pictureSize`, in pixels; and `seconds`, the time stamp of the frame.
public struct Grading: Hashable, Sendable {
  /// The code.
  package var code: String
  /// Where the code is from, for errors.
  package var path: String?

  /// Code that a program has as a string.
  public init(_ code: String) { self.code = code }

  /// Reads the code from a file.
  ///
  /// - Throws: `PreviewError.shader` if the file cannot be read or is not UTF-8.
  package init(path: String) throws {
    do {
      code = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    } catch {
      throw PreviewError.shader(path: path, line: nil, cause: error.systemText)
    }
    self.path = path
  }
}
