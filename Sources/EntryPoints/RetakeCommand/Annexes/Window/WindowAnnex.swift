#if Window
  import RetakePreview

  /// The window: the player of sessions, and the preview of recordings.
  enum WindowAnnex: Annex {
    static var commands: [AnnexCommand] {
      [
        AnnexCommand(parent: Root.self, after: ReplayCommand.self, command: ViewCommand.self),
        AnnexCommand(
          parent: BenchCommand.self, after: BenchHeatCommand.self, command: BenchWindowCommand.self),
      ]
    }
  }
#endif
