extension StageFailure {
  /// The advice after a run that this failure halted: a sentence without a full stop.
  package var advice: String {
    switch code {
    case "process.timeout":
      "Find out why the program waits or computes so long, or raise timeoutSeconds, in the "
        + "options of its node or under program: of its case"
    case "process.exited", "process.signalled", "process.closed":
      "Repair the program: a frame that it cannot do is answered with an error, not by ending"
    case "python.thread":
      "Send values from on_frame: let it wait for the thread and return the thread's value, or "
        + "use out(…, frame=frame) while it waits; docs/programs.md has an example"
    case "python.exception":
      "Repair the program: its last lines have the traceback, --show-programs shows all lines"
    case let code where code.hasPrefix("loop."):
      "Change the script: docs/loops.md has the calls that a loop cannot make, and other ways"
    case let code where code.hasPrefix("process."):
      "Compare the program's messages with docs/formats/stage-protocol.md"
    default: "Fix the cause, or let the stage throw a recoverable error"
    }
  }
}
