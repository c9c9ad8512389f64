import RetakeCore

/// Why a file of stored detections is not read.
struct StoredError: FactualError {
  let facts: ErrorFacts

  init(facts: ErrorFacts) { self.facts = facts }

  static func unreadable(_ file: String, cause: String) -> Self {
    Self(
      "stages.detections.unreadable", "the detections cannot be read", cause: cause, at: file,
      advice: "Name a file, relative to the folder in which the command runs; of a golden its "
        + ResultChunkText.name(0))
  }

  static func pointer(_ file: String) -> Self {
    Self(
      "stages.detections.pointer", "the file is a pointer of Git LFS", at: file,
      advice: LargeFilePointer.advice)
  }

  static func empty(_ file: String) -> Self {
    Self(
      "stages.detections.empty", "the file is empty", at: file,
      advice: "If no frame has a detection, set the option 'format' to 'mot'")
  }

  static func unknownFormat(_ file: String) -> Self {
    Self(
      "stages.detections.format",
      "the file begins like none of the formats: results of Retake (.gold or JSON lines), "
        + "MOTChallenge text, COCO JSON",
      at: file, advice: "Write one of these formats; the option 'format' names it")
  }

  /// A line that is not of the format.
  static func line(_ file: String, _ number: Int, _ problem: String, advice: String? = nil) -> Self
  {
    Self(
      "stages.detections.line", "line \(number): \(problem)", at: file,
      advice: advice ?? "Correct the line, or write the file again")
  }

  /// A part of a JSON document that is not of the format.
  static func element(_ file: String, _ pointer: String, _ problem: String, advice: String? = nil)
    -> Self
  {
    Self(
      "stages.detections.element", problem, at: file, pointer: pointer,
      advice: advice ?? "Correct this element, or write the file again")
  }

  /// Labels may have regions, and a detector returns objects.
  static func region(_ file: String, _ pointer: String) -> Self {
    element(
      file, "\(pointer)/iscrowd", "the box is around a crowd, and not around one object",
      advice: "Remove the annotations with \"iscrowd\": 1: they are regions in which COCO "
        + "ignores detections")
  }

  static func malformed(_ file: String, cause: String) -> Self {
    Self(
      "stages.detections.json", "the file is not JSON: \(cause.shortened)", at: file,
      advice: "Write the file again; NaN and Infinity are no JSON")
  }

  /// The file does not say which image is the first frame.
  static func firstImage(_ file: String, _ problem: String) -> Self {
    Self(
      "stages.detections.firstFrame", problem, at: file,
      advice: "Set the option 'firstFrame' to the image_id of the session's frame 0, often 0 or 1")
  }

  static func sink(_ file: String, _ sink: String, known: [String]) -> Self {
    let names = known.prefix(16).map { "'\($0.shortened)'" }.joined(separator: ", ")
    return Self(
      "stages.detections.sink",
      sink.isEmpty
        ? "the results are of \(counted(known.count, "sink"))"
        : "the results have no sink '\(sink.shortened)'", at: file,
      advice: known.isEmpty
        ? "Name results of a run whose pipeline has a results node after the detector"
        : "Set the option 'sink' to one of: \(names)")
  }

  /// Results that are cut or damaged: here no new golden would help.
  static func results(_ error: ResultTextError) -> Self {
    var facts = error.facts
    switch error {
    case .header, .line, .block, .cutShort:
      facts.advice =
        "Restore the file, for instance with 'git checkout', or write the detections again: "
        + "retake replay SESSION --pipeline PIPELINE --output FOLDER"
    case .precision, .version, .lineEnds: break
    }
    return Self(facts: facts)
  }

  static func otherRun(_ file: String) -> Self {
    Self(
      "stages.detections.otherRun", "the file is of another run than the first results file",
      at: file, advice: "Remove it, or restore the files of one run")
  }

  /// The file is of another recording than the session.
  static func frames(_ file: String, _ problem: String, advice: String) -> Self {
    Self("stages.detections.frames", problem, at: file, advice: advice)
  }
}
