import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGolden
import RetakeRuntime

/// The job file of an engine that runs `retake run-shard` once for each shard of a plan.
package enum FleetFile: String, Sendable, CaseIterable {
  case slurm
  case kubernetes
  case parallel

  package struct Job: Sendable {
    /// The program: one with own stages has another name than `retake`.
    package var program: String
    /// The file of the plan, and the number of its shards.
    package var plan: String
    package var shards: Int
    /// The folder of the results.
    package var store: String
    /// Of Kubernetes: the container's image, and the volume with the project.
    package var image: String
    package var claim: String

    package init(
      program: String, plan: String, shards: Int, store: String, image: String, claim: String
    ) {
      (self.program, self.plan, self.shards, self.store) = (program, plan, shards, store)
      (self.image, self.claim) = (image, claim)
    }

    fileprivate var command: String {
      "\(program.shellWord) run-shard \(plan.shellWord) --store \(store.shellWord)"
    }
  }

  /// The most times that an engine starts a shard again: two attempts at a case that kills its
  /// process, and others for lost machines. A start without work costs a check of the results.
  private static let retriesMax = 5
  private static let submitSecondsMax = 60.0

  package func text(_ job: Job) -> String {
    switch self {
    case .slurm: Self.slurm(job)
    case .kubernetes: Self.kubernetes(job)
    case .parallel: Self.parallel(job)
    }
  }

  /// Checks that the engine's jobs would use the plan and the store of this project.
  ///
  /// - Throws: `SuiteError` with code `shard.fleet.place`.
  package func check(_ job: Job) throws {
    switch self {
    case .slurm: return
    case .kubernetes:
      for path in [job.plan, job.store] where !Self.isMounted(path) {
        throw ShardError.outsideVolume(path)
      }
    case .parallel:
      // '{}', '{#}' and others stay replacements in quotes, too.
      for word in [job.program, job.plan, job.store] where word.contains("{") {
        throw ShardError.replaced(word)
      }
    }
  }

  /// Whether a path of a container, whose folder is /project, is in the volume.
  private static func isMounted(_ path: String) -> Bool {
    var folders: [Substring] = []
    for name in (path.hasPrefix("/") ? path : "\(mount)/\(path)").split(separator: "/")
    where name != "." {
      if name == ".." { _ = folders.popLast() } else { folders.append(name) }
    }
    return folders.first == mount.dropFirst() && folders.count > 1
  }

  /// Where a container has the volume with the project.
  private static let mount = "/project"

  private static func slurm(_ job: Job) -> String {
    """
    #!/bin/bash
    #SBATCH --job-name=retake
    #SBATCH --array=1-\(job.shards)
    #SBATCH --requeue
    #SBATCH --open-mode=append
    #SBATCH --output=retake-%A-%a.log
    # Also in an array of some shards, such as sbatch --array=7.
    \(job.command) --index "$SLURM_ARRAY_TASK_ID"
    status=$?
    # 75: a disk failed. 132 to 139: a signal ended the process.
    case $status in 75|13[2-9])
      # The number of the array alone would start every shard again.
      if [ "${SLURM_RESTART_COUNT:-0}" -lt \(retriesMax) ]; then
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
      fi ;;
    esac
    exit $status

    """
  }

  private static func kubernetes(_ job: Job) -> String {
    func quoted(_ text: String) -> String { JSONValue.string(text).canonicalText }
    return """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: retake
      spec:
        completionMode: Indexed
        completions: \(job.shards)
        parallelism: \(job.shards)
        backoffLimitPerIndex: \(retriesMax)
        podFailurePolicy:
          rules:
            - action: Ignore              # the node was drained or lost
              onPodConditions:
                - type: DisruptionTarget
                  status: "True"
            - action: FailIndex           # another attempt would end the same way
              onExitCodes:
                containerName: retake
                operator: In
                values: [2, 64, 65]
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: retake
                image: \(quoted(job.image))
                workingDir: \(mount)
                command:
                  - \(quoted(job.program))
                  - run-shard
                  - \(quoted(job.plan))
                  - --store
                  - \(quoted(job.store))
                volumeMounts:
                  - {name: project, mountPath: \(mount)}
            volumes:
              - name: project
                persistentVolumeClaim: {claimName: \(quoted(job.claim))}

      """
  }

  private static func parallel(_ job: Job) -> String {
    // Without the folder, a job of another machine starts in the login folder.
    "seq \(job.shards) | parallel --retries \(retriesMax + 1) --workdir . "
      + "\("\(job.command) --index {}".shellWord)\n"
  }

  /// Starts the script with sbatch.
  ///
  /// - Returns: The number of the array.
  /// - Throws: `SuiteError` with code `shard.fleet.submit`.
  package static func submit(_ script: String) throws -> String {
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    let file = scratch.file("retake.sbatch")
    let output = Locked(Data())
    let result: BoundedProcess.Result
    do {
      try Data(script.utf8).write(to: file)
      result = try BoundedProcess(
        executable: "/usr/bin/env", arguments: ["sbatch", "--parsable", file.path],
        environment: ProcessInfo.processInfo.environment, secondsMax: submitSecondsMax,
        onOutput: { bytes in output.withLock { $0 += bytes } }
      ).run()
    } catch {
      throw ShardError.notSubmitted(cause: error.systemText)
    }
    let text = String(decoding: output.withLock { $0 }, as: UTF8.self)
    guard result.end == .exited(0), let number = number(in: text) else {
      throw ShardError.notSubmitted(cause: result.closingResponse)
    }
    return number
  }

  /// The number in the output of 'sbatch --parsable', which may also have warnings: a line `NUMBER` or
  /// `NUMBER;CLUSTER`.
  static func number(in output: String) -> String? {
    output.split(whereSeparator: \.isNewline).last { line in
      line.prefix { $0 != ";" }.allSatisfy { ("0"..."9").contains($0) } && line.first != ";"
    }.map(String.init)
  }
}
