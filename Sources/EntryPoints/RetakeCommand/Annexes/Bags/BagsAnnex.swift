#if Bags
  import ArgumentParser
  import Retake

  /// Bags of ROS 2 and MCAP files, imported and exported.
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
    }

    static func run(_ command: ImportCommand, _ file: String) throws {
      try BagImport(
        file: file, name: command.name, into: command.into, topics: command.topic,
        namesNext: command.namesNext, output: command.output
      ).run()
    }
  }
#endif
