#if Bags
  import ArgumentParser
  import Retake

  /// Bags and folders of images, imported; MCAP files, exported.
  enum BagsAnnex: Annex {
    static var importers: [any AnnexImporter.Type] { [BagImport.self] }
  }

  extension BagImport: AnnexImporter {
    static func accepts(_ file: String) -> Bool { BagImportOptions.isBag(file) }

    static func validate(_ command: ImportCommand) throws {
      guard command.track.isEmpty else {
        throw ValidationError("--track is for video files; topics of a bag are chosen with --topic")
      }
      guard command.sensor.isEmpty else {
        throw ValidationError(
          "--sensor is for video files; topics of a bag with numbers are sensors by themselves")
      }
      guard command.times == nil else {
        throw ValidationError("--times is for video files; the messages of a bag have times")
      }
      guard !command.link else {
        throw ValidationError("--link is for video files; the images of a bag are copied")
      }
      _ = try frameTime(command.rate)
    }

    static func run(_ command: ImportCommand, _ file: String) throws {
      try BagImport(
        file: file, name: command.name, into: command.into, topics: command.topic,
        rate: try frameTime(command.rate), namesNext: command.namesNext, output: command.output
      ).run()
    }

    private static func frameTime(_ rate: Double?) throws -> TimeBase? {
      do {
        return try rate.map(FrameRateText.timeBase)
      } catch {
        throw ValidationError("--rate is the number of images a second, 0.001 to 1000")
      }
    }
  }
#endif
