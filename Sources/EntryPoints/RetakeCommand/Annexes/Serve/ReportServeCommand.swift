#if Serve
  import ArgumentParser
  import Retake
  import RetakeServe

  struct ReportServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "serve",
      abstract: "Show reports, runs and sessions in the browser; accept and correct labels there.",
      discussion: """
        Serves this project's pages to this machine only, until Ctrl-C. The address contains a token,
        new on each start; requests without the token are refused. The pages show every frame of a
        session, correct its labels, and accept pending goldens with a reason; with CI set, they change
        nothing.

        Examples:
          retake report serve
          retake report serve --port 8420
          retake report serve --json      # {"address":"http://127.0.0.1:…"}, then serves
        """)

    @Option(
      parsing: .unconditional, help: "The port on 127.0.0.1; any free one if not given.",
      transform: Bounded.whole(0...65_535))
    var port = 0

    @Option(help: "The folder of the goldens.")
    var goldens: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
      Interruption.listen()
      let environment = CommandEnvironment.current
      let project = try environment.project()
      var options = ReportServer.Options()
      options.port = port
      options.goldens = goldens.map { project.path($0) }
      options.pendingFolder = environment.pendingFolder
      options.isCI = environment.isCI
      options.program = environment.program
      let server = try ReportServer(project: project, options: options)
      // Signals are handled on another thread, and this one waits for the server.
      Interruption.onRequest { server.stop() }
      if output.json {
        struct Serving: Encodable {
          var address: String
          var port: Int
        }
        // Printed before it waits, on one line: scripts read the address from it.
        try Console.json(Serving(address: server.address, port: server.port), isPretty: false)
      } else {
        Console.result(server.address)
        output.note("Ctrl-C ends it")
      }
      server.wait()
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
      // Without a request `wait` returns only if listening has failed.
      throw ServeError.cannotListen(port: server.port, cause: "the server ended by itself")
    }
  }
#endif
