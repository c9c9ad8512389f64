import ArgumentParser
import Retake

/// The MCAP file of `retake session export`.
struct BagArguments: ParsableArguments {
  #if Bags
    @Option(help: ArgumentHelp("An MCAP file to write.", valueName: "file"))
    var mcap: String?
    @Option(help: "How frames are written into the MCAP file: jpeg or h264.")
    var codec: BagExportOptions.Codec = .jpeg
    @Option(
      help: ArgumentHelp(
        "A golden, or the folder of a run, for the MCAP file; repeat for several.",
        valueName: "folder"))
    var golden: [String] = []

    /// Options that need `mcap`.
    var hasDetails: Bool { codec != .jpeg || !golden.isEmpty }
  #else
    var mcap: String? { nil }
    var hasDetails: Bool { false }
  #endif

  /// Writes the MCAP file, if the user requested it.
  ///
  /// - Returns: By topic, the number of its messages.
  func write(
    _ session: String, track: Int?, run: Int?,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool
  ) throws -> [(topic: String, messages: Int)] {
    #if Bags
      guard let mcap else { return [] }
      let options = BagExportOptions(
        codec: codec, tracks: track.map { [$0] }, goldens: golden, run: run)
      return try BagExporter(of: session, options: options, report: report).run(to: mcap)
        .map { ($0.topic, $0.messages) }
    #else
      return []
    #endif
  }
}

#if Bags
  extension BagExportOptions.Codec: ExpressibleByArgument {}
#endif
