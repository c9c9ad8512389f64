/// An error that is not a programmer's mistake, in the form that every module reports it: a stable
/// code, the message, the cause, the place and the advice.
///
/// Each module has one type that conforms. The command renders it once, at the top level.
public protocol CodedError: Error, Sendable, CustomStringConvertible {
  /// Stable and dotted, with the module first: `"media.demux.noTrack"`.
  var code: String { get }
  /// One sentence in the user's terms, without the place and without advice.
  var message: String { get }
  /// The message of the layer below, such as FFmpeg's own message.
  var cause: String? { get }
  /// Where the problem is. `nil`, the default, if it has no place.
  var place: Place? { get }
  /// The next step for the user: an exact command where possible. `nil`, the default, without
  /// advice.
  var advice: String? { get }
}

extension CodedError {
  /// Without a cause.
  public var cause: String? { nil }
  /// Without a place.
  public var place: Place? { nil }
  /// Without advice.
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
