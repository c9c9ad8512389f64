import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct FleetFileTests {
  private let job = FleetFile.Job(
    program: "retake", plan: "my plan.json", shards: 8, store: "/results",
    image: "registry/yard:7", claim: "project")

  @Test(arguments: FleetFile.allCases)
  func `each job file runs every shard of the plan`(engine: FleetFile) {
    let text = engine.text(job)
    #expect(text.contains("run-shard") && text.contains("my plan.json"))
    let count =
      switch engine {
      case .slurm: "#SBATCH --array=1-8\n"
      case .kubernetes: "  completions: 8\n"
      case .parallel: "seq 8 | parallel --retries 6 --workdir . "
      }
    #expect(text.contains(count), "\(text)")
    // Only a program with own stages knows its stages.
    var own = job
    own.program = "./yard"
    let ownText = engine.text(own)
    #expect(ownText.contains("./yard") && !ownText.contains("retake run-shard"), "\(ownText)")
  }

  @Test(arguments: [
    ("results", true), ("./a/../results", true), ("/project/results", true), ("/results", false),
    ("../results", false), ("/project", false), ("a/../..", false), ("/project/../x", false),
  ])
  func `a store is in the volume of the pods`(store: String, isMounted: Bool) {
    var job = job
    job.store = store
    #expect(((try? FleetFile.kubernetes.check(job)) != nil) == isMounted)
    #expect(throws: Never.self) { try FleetFile.slurm.check(job) }
    (job.plan, job.store) = (store, "results")
    #expect(((try? FleetFile.kubernetes.check(job)) != nil) == isMounted)
  }

  @Test func `no path has words that parallel replaces`() {
    var job = job
    #expect(throws: Never.self) { try FleetFile.parallel.check(job) }
    job.store = "results {}"
    let error = #expect(throws: SuiteError.self) { try FleetFile.parallel.check(job) }
    #expect(error?.code == "shard.fleet.place")
  }

  private static let judge = "kubernetes_validate, yaml"

  /// The first version whose Job has all the fields, and the newest version of the schemas. A name
  /// with a colon, a quote or a brace is still one string.
  @Test(
    .enabled(if: Judges.has(judge), "kubernetes-validate of PyPI is not installed"),
    arguments: ["1.29", "1.37"])
  func `the published schema accepts the Job of Kubernetes`(version: String) throws {
    var odd = job
    (odd.program, odd.plan, odd.store) = ("./yard", #"a "b": {c} #d.json"#, "it's [here]")
    for job in [job, odd] {
      let answer = try judged(FleetFile.kubernetes.text(job), version)
      #expect(answer == [job.image, job.program, job.plan, job.store, job.claim], "\(answer)")
    }
  }

  @Test(.enabled(if: Judges.has(judge), "kubernetes-validate of PyPI is not installed"))
  func `the published schema refuses a misspelled field`() throws {
    for field in ["backoffLimitPerIndex", "onExitCodes", "completionMode"] {
      let text = FleetFile.kubernetes.text(job)
        .replacing("\(field):", with: "\(field.dropLast()):")
      let answer = try judged(text, "1.29")
      #expect(answer.first?.contains("'\(field.dropLast())' was unexpected") == true, "\(answer)")
    }
  }

  /// - Returns: The strings of the Job, or the message of its first error.
  private func judged(_ text: String, _ version: String) throws -> [String] {
    let script = """
      import json, sys, \(Self.judge)
      document = yaml.safe_load(sys.stdin)
      try:
          kubernetes_validate.validate(document, sys.argv[1], strict=True)
          pod = document["spec"]["template"]["spec"]
          container = pod["containers"][0]
          program, _, plan, _, store = container["command"]
          claim = pod["volumes"][0]["persistentVolumeClaim"]["claimName"]
          print(json.dumps([container["image"], program, plan, store, claim]))
      except kubernetes_validate.ValidationError as error:
          print(json.dumps([error.message]))
      """
    let result = try runCommand(
      Judges.python, arguments: ["-c", script, version], input: Data(text.utf8))
    try #require(result.status == 0, "\(result.stderr)")
    return try JSONDecoder().decode([String].self, from: Data(result.stdout.utf8))
  }

  @Test(arguments: [
    ("17\n", "17"), ("17;yard\n", "17;yard"),
    ("sbatch: warning: no time limit\n17\n", "17"), ("17\nsbatch: 3 jobs are queued\n", "17"),
    ("sbatch: error\n", nil), ("", nil),
  ])
  func `the number of an array is found among warnings`(output: String, number: String?) {
    #expect(FleetFile.number(in: output) == number)
  }

  @Test func `the script of Slurm starts a shard again after a failed disk or a signal`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, body) in [
      // The index, because the other variables of a part of an array name no shard of the plan.
      ("retake", "[ \"$*\" = 'run-shard my plan.json --store /results --index 3' ] && exit $END"),
      ("scontrol", "echo \"$@\""),
      ("job.sh", FleetFile.slurm.text(job)),
    ] {
      let file = folder.appending(path: name)
      try Data((name == "job.sh" ? body : "#!/bin/sh\n\(body)\n").utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    }
    for (status, restarts, expected) in [
      (75, "0", "requeue 7_3"), (137, "2", "requeue 7_3"), (139, "5", ""), (0, "0", ""),
      (65, "0", ""), (2, "0", ""), (130, "0", ""),
    ] {
      let result = try BoundedProcess(
        executable: "/bin/bash", arguments: [folder.appending(path: "job.sh").path],
        environment: [
          "PATH": folder.path + ":/usr/bin:/bin", "END": "\(status)", "SLURM_ARRAY_JOB_ID": "7",
          "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": restarts,
        ], secondsMax: 60
      ).run()
      #expect(result.end == .exited(Int32(status)) && result.closingResponse == expected)
    }
  }
}
