#!/bin/sh
# One shard of the project, as a sh_test of Bazel, which sets the variables in capital letters.
touch "$TEST_SHARD_STATUS_FILE"
cp -RL "$(dirname "$0")" "$TEST_TMPDIR/project" && cd "$TEST_TMPDIR/project" || exit 75
outputs=$TEST_UNDECLARED_OUTPUTS_DIR
for attempt in 1 2 3; do
  CI=true retake test --shard auto --report "$outputs/report" --blob "$outputs/shard.blob"
  status=$?
  [ $status -eq 75 ] || break
done
cp "$outputs/report/junit.xml" "$XML_OUTPUT_FILE"
exit $status
