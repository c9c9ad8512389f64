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

  /// `description` omits each argument that is `nil`.
  public init(
    file: String? = nil, frame: FrameID? = nil, part: String? = nil, pointer: String? = nil
  ) {
    self.file = file
    self.frame = frame
    self.part = part
    self.pointer = pointer
  }

  /// The parts that are not `nil`, with commas: `yard.json, frame 0:12, at /nodes/2/kind`.
  public var description: String {
    [file, frame.map { "frame \($0)" }, part, pointer.map { "at \($0.isEmpty ? "/" : $0)" }]
      .compactMap(\.self).joined(separator: ", ")
  }
}
