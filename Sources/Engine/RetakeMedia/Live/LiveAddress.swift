import Foundation

/// The origin of live images: a camera, a stream's URL, or FFmpeg's own test images.
///
/// Only protocols and filters on the lists below are opened; all others are rejected with an error
/// that names them.
package enum LiveAddress: Hashable, Sendable {
  /// A camera of the system, such as `/dev/video0`.
  case camera(device: String)
  case stream(StreamAddress)
  /// A chain of FFmpeg's filters that begins with an image source: `testsrc2=size=640x480:rate=30`.
  case test(graph: String)

  /// - Returns: nil if the string has no known prefix or scheme, so that it may be a file.
  /// - Throws: `MediaError.protocolRefused`, `.badAddress` or `.badTestImage`.
  package init?(parsing text: String) throws {
    if let graph = text.removingPrefix("lavfi:") {
      try TestImage.check(graph)
      self = .test(graph: graph)
    } else if let device = text.removingPrefix("v4l2:") {
      self = .camera(device: device)
    } else if text.hasPrefix("/dev/video") {
      self = .camera(device: text)
    } else if let separator = text.range(of: "://") {
      self = .stream(try StreamAddress(text, scheme: text[..<separator.lowerBound].lowercased()))
    } else {
      return nil
    }
  }

  /// Human-readable, also stored in the session; omits a stream's user and password.
  package var name: String {
    switch self {
    case .camera(let device): "v4l2:\(device)"
    case .stream(let stream): stream.publicText
    case .test(let graph): "lavfi:\(graph)"
    }
  }

  /// Whether frames arrive at their own time, whether or not they are requested.
  package var isLive: Bool {
    if case .test = self { false } else { true }
  }
}

/// FFmpeg's filters that draw images, and filters that only change images. No other filters are
/// allowed, because some read files or the network.
enum TestImage {
  private static let sources = [
    "allrgb", "allyuv", "color", "colorspectrum", "gradients", "haldclutsrc",
    "mandelbrot", "mptestsrc", "pal100bars", "pal75bars", "rgbtestsrc", "sierpinski", "smptebars",
    "smptehdbars", "testsrc", "testsrc2", "yuvtestsrc",
  ]
  private static let changes = [
    "boxblur", "crop", "eq", "format", "fps", "hflip", "hue", "negate", "noise", "pad", "rotate",
    "scale", "setpts", "transpose", "trim", "vflip",
  ]

  static func check(_ graph: String) throws {
    // Links, quotes and escapes of FFmpeg's graphs could hide a filter from the check of names
    // below.
    guard !graph.isEmpty, !graph.contains(where: { "[];'\\".contains($0) }) else {
      throw MediaError.badTestImage(
        graph: graph, cause: "it is one chain of filters, without brackets, quotes or semicolons")
    }
    let names = graph.split(separator: ",", omittingEmptySubsequences: false).map {
      // A filter may have its own name after an `@`.
      String($0.prefix { $0 != "=" && $0 != "@" })
    }
    for (place, name) in names.enumerated() {
      let allowed = place == 0 ? sources : changes
      guard allowed.contains(name) else {
        throw MediaError.badTestImage(
          graph: graph,
          cause: "'\(name)' is not one of \(allowed.joined(separator: ", "))")
      }
    }
  }
}

extension String {
  fileprivate func removingPrefix(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
