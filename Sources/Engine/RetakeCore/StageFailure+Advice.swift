extension StageFailure {
  /// The advice after a run that this failure halted: a sentence without a full stop.
  package var advice: String {
    switch code {
    case "process.timeout":
      "Find what the program waits for, or give it longer: timeoutSeconds, in the options of its "
        + "node or under program: of its case"
    case "process.exited", "process.signalled", "process.closed":
      "Repair the program: a frame that it cannot do is answered with an error, not by ending"
    case "python.thread":
      "Keep to on_frame: let it wait for the thread and give what that returns, or use "
        + "out(…, frame=frame) while it waits; docs/programs.md has an example"
    case "python.exception":
      "Repair the program: its last lines have the traceback, --show-programs shows all lines"
    case let code where code.hasPrefix("process."):
      "Compare what the program sends with docs/formats/stage-protocol.md"
    default: "Repair what the stage needs, or let it throw a recoverable error"
    }
  }
}
