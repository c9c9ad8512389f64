/// A stream that learns more about its source than the frames that it returns.
protocol RemarkingStream: FrameStream {
  /// Sentences for a user; complete when the recording has ended.
  ///
  /// - Parameter isCopied: The packets are stored as they are.
  func remarks(isCopied: Bool) -> [String]
  /// Descriptions of data that the source lacks; complete when the source has ended.
  var losses: [String] { get }
}
