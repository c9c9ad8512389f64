#if Serve
  /// Pages of reports, runs and sessions on this machine alone.
  enum ServeAnnex: Annex {
    static var commands: [AnnexCommand] {
      [
        AnnexCommand(
          parent: ReportCommands.self, after: ReportOpenCommand.self,
          command: ReportServeCommand.self)
      ]
    }
  }
#endif
