package import RetakeCore

/// Why labels are not read or written.
package struct LabelError: FactualError {
  package let facts: ErrorFacts

  package init(facts: ErrorFacts) { self.facts = facts }

  static func pointer(_ file: String) -> Self {
    Self(
      "labels.pointer", "the file is a pointer of Git LFS", at: file,
      advice: LargeFilePointer.advice)
  }

  static func unreadable(_ file: String, cause: String) -> Self {
    Self(
      "labels.unreadable", "the labels cannot be read", cause: cause, at: file,
      advice: "Name a file, or for YOLO the folder of its text files")
  }

  static func unknownFormat(_ file: String) -> Self {
    Self(
      "labels.format",
      "the file begins like none of the formats: COCO JSON, MOTChallenge text, CVAT XML, results "
        + "of Retake, or a table whose header is frame,NAME or time_s,NAME",
      at: file, advice: "Write one of these formats; --format names it")
  }

  /// A line that is not of the format.
  static func line(_ file: String, _ number: Int, _ problem: String, advice: String? = nil) -> Self
  {
    Self(
      "labels.line", "line \(number): \(problem)", at: file,
      advice: advice ?? "Correct the line, or export the labels again")
  }

  /// An element of Retake's own file that is not of the format.
  static func element(_ file: String, _ place: String, _ problem: String, advice: String? = nil)
    -> Self
  {
    Self(
      "labels.element", problem, at: file, pointer: place,
      advice: advice ?? "Correct this element, or restore the file, for instance with git checkout")
  }

  /// A file that does not fit the session.
  static func other(_ file: String, _ problem: String, advice: String) -> Self {
    Self("labels.session", problem, at: file, advice: advice)
  }

  /// The file does not say the meaning of a number or a name.
  static func unclear(_ file: String, _ problem: String, advice: String) -> Self {
    Self("labels.unclear", problem, at: file, advice: advice)
  }

  /// The labels belong to another recording of this name.
  package static func otherRecording(_ file: String, session: String, track: Int) -> Self {
    Self(
      "labels.recording",
      "the labels were made for another recording than the track \(track) of '\(session)'",
      at: file,
      advice: "Remove the file, or replace it: retake label import FILE --session "
        + "\(session.shellWord) --replace; if the frames are the same, remove \"info\" from it")
  }

  static func exists(_ file: String, _ what: String) -> Self {
    Self(
      "labels.exists", "the session has \(what) already", at: file,
      advice: "Replace them: --replace")
  }

  /// The file has other labels than the labels that were corrected.
  static func changed(_ file: String) -> Self {
    Self(
      "labels.changed", "the labels in the file have changed since they were read", at: file,
      advice: "Load the new labels, and correct these")
  }
}
