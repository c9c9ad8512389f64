import ArgumentParser
import Foundation
import Retake

struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retake",
    abstract: "Record the input of a camera pipeline, replay it in virtual time, and compare.",
    discussion: """
      Begin here:
        retake import clip.mp4                        make a session of footage
        retake replay clip --pipeline example:motion-boxes
        retake test clip --pipeline example:motion-boxes
        retake accept --reason "first golden"

      Exit codes: 0 passed, 1 changed, 2 error, 3 golden missing, 4 nothing compared,
      5 not comparable or in CI stale, 64 wrong arguments, 75 a disk failed, 130 interrupted.
      """,
    version: Tool.version,
    subcommands: Annexes.commands(
      of: Self.self,
      among: [
        InitCommand.self, BuildCommand.self, ImportCommand.self, RecordCommand.self,
        SessionCommand.self, PipelineCommand.self, ReplayCommand.self, TestCommand.self,
        PlanCommand.self, RunShardCommand.self, MergeCommand.self, FleetCommand.self,
        CICommand.self,
        DiffCommand.self, CompareCommand.self, FindCommand.self, QueryCommand.self,
        ReduceCommand.self, BisectCommand.self, StressCommand.self, ReviewCommand.self,
        AcceptCommand.self, RejectCommand.self, GoldenCommand.self, LabelCommand.self,
        CoverageCommand.self, VerifyCommand.self, ReportCommands.self, TrendCommand.self,
        CacheCommand.self, StoreCommand.self, ProfileCommand.self, BenchCommand.self,
        MigrateCommand.self, DoctorCommand.self,
      ]))
}
