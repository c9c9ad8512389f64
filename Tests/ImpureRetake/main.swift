import Foundation
import Retake
import RetakeCommand

/// A small synthetic scene, measured, and then processed by the stage under test.
func pipeline<Stage: PureStage>(_ stage: Stage) -> Pipeline
where Stage.Input == Scalars, Stage.Output == Scalars {
  let scene = SyntheticOptions(scene: .figures, width: 72, height: 48, frames: 12)
  return Pipeline.named(Stage.kind).source(.synthetic(scene)).luminance().stage(stage)
    .map("after") { (input: Scalars, _) in input }.results()
}

RetakeCommand.main(
  stages: {
    $0.register(Hangs.self)
    $0.register(ReadsClock.self)
    $0.register(Halts.self)
  },
  pipelines: [
    pipeline(Pure()), pipeline(ReadsClock()), pipeline(OrdersByHash()), pipeline(Mathematics()),
    pipeline(FailsByMathematics()), pipeline(ReadsClockElsewhere()), pipeline(ReadsOldMemory()),
    pipeline(DiesElsewhere()), pipeline(HangsElsewhere()),
    Pipeline.named(LeavesRows.kind).source(
      .synthetic(SyntheticOptions(scene: .figures, width: 72, height: 48, frames: 12))
    ).luminance().stage(LeavesRows()).results(),
    Pipeline.named(ReadsPadding.kind).source(.session()).stage(ReadsPadding()).results(),
    Pipeline.named("liveClock").source(.session()).luminance().stage(ReadsClock()).results(),
    Pipeline.named("halts").source(.session()).luminance().stage(Halts()).results(),
    Pipeline.named("closureSink").source(.session()).luminance().sink { _ in },
  ])
