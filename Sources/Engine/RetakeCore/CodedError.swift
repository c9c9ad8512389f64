/// The location of a problem: a file, a frame, a place inside a document.
public struct Place: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The path of a file or folder, or the address of a stream.
  public var file: String?
  /// The frame at which the problem was found.
  public var frame: FrameID?
  /// A part of something that has no document, in words, such as `stage 'motion'`.
  public var part: String?
  /// A JSON pointer (RFC 6901) into the document, such as `/nodes/2/kind`.
  public var pointer: String?

  /// Each argument that is `nil` is left out of `description`.
  public init(
    file: String? = nil, frame: FrameID? = nil, part: String? = nil, pointer: String? = nil
  ) {
    self.file = file
    self.frame = frame
    self.part = part
    self.pointer = pointer
  }

  public var description: String {
    [file, frame.map { "frame \($0)" }, part, pointer.map { "at \($0.isEmpty ? "/" : $0)" }]
      .compactMap(\.self).joined(separator: ", ")
  }
}

/// An error that is not a programmer's mistake, in the form that every module reports it: a stable
/// code, what happened, why, where, and what to do next.
///
/// Each module has one enum that conforms. The command renders it once, at the top level.
public protocol CodedError: Error, Sendable, CustomStringConvertible {
  /// Stable and dotted, with the module first: `"media.demux.noTrack"`.
  var code: String { get }
  /// One sentence in the user's terms, without the place and without advice.
  var message: String { get }
  /// The message of the layer below, such as FFmpeg's own message.
  var cause: String? { get }
  /// Where the problem is. `nil`, the default, if it has no place.
  var place: Place? { get }
  /// What to do now; an exact command if there is one.
  var advice: String? { get }
}

extension CodedError {
  public var cause: String? { nil }
  public var place: Place? { nil }
  public var advice: String? { nil }

  /// `"place: message (cause). advice"`, on one line.
  public var description: String {
    var text = place.map { "\($0): " } ?? ""
    text += message
    if let cause { text += " (\(cause))" }
    if let advice { text += ". \(advice)" }
    return text
  }
}
