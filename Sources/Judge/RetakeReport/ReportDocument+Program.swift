package import RetakeCore

extension ReportDocument {
  /// Puts the name of the running program into the commands that sentences advise to type. The page
  /// and the JSON are written as they are, so this is the last place that knows the name.
  package mutating func nameCommands(_ program: ProgramName) {
    notes = notes.map(program.applied(to:))
    errors = errors.map { $0.naming(program) }
    for index in cases.indices { cases[index].nameCommands(program) }
  }
}

extension ReportCase {
  fileprivate mutating func nameCommands(_ program: ProgramName) {
    reason = program.applied(to: reason)
    notes = notes.map(program.applied(to:))
    error = error?.naming(program)
    for index in checks.indices {
      checks[index].message = program.applied(to: checks[index].message)
    }
    for index in suspects.indices {
      suspects[index].text = program.applied(to: suspects[index].text)
    }
    for index in rootCauses.indices {
      rootCauses[index].why = program.applied(to: rootCauses[index].why)
    }
  }
}

extension ReportProblem {
  fileprivate func naming(_ program: ProgramName) -> ReportProblem {
    var problem = self
    problem.message = program.applied(to: message)
    problem.advice = advice.map(program.applied(to:))
    return problem
  }
}
