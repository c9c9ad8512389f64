import RetakeCore
package import RetakeGraph

/// The file of a `detections` node, and how its numbers are read.
package struct StoredOptions: StageOptions, Hashable {
  @OptionValue(
    "a golden's results-00000.gold, JSON lines of Retake, MOTChallenge or COCO, relative to the "
      + "folder in which the command runs; required")
  package var file = ""
  @OptionValue(
    "'automatic' (by the first bytes), 'golden', 'lines' (JSON lines of Retake), 'mot' or 'coco'")
  package var format = StoredFormat.automatic
  @OptionValue(
    "of MOT and COCO: the file's number of the session's frame 0; -1: 1 for MOT, and for COCO the "
      + "order of its images", in: -1...StoredOptions.frameMax)
  package var firstFrame = -1
  @OptionValue("of results of Retake: the id of the sink, if there are several")
  package var sink = ""
  @OptionValue("names of the classes in the order of their indices; empty: the file's names")
  package var classNames: [String] = []
  @OptionValue("a box without a pixel in the frame: 'refuse' ends the run, 'keep' returns it")
  package var outside = OutsideBoxes.refuse

  /// The highest number of a frame in a file.
  static let frameMax = 1_000_000_000

  package init() {}

  package init(file: String) { self.file = file }
}
