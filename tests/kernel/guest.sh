#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs on the kernel under test: guest.sh FOLDER CGROUPS PORT SECONDS [DAEMON FLAG…]
# FOLDER holds firetowerd, firetower, the toys and `plan`, a line a container: WHEN UID ID CHILD COMMAND… with WHEN
# `before` or `after` the daemon's start and CHILD a cgroup below the container's, or `.`. Containers are cgroups below
# CGROUPS. First it runs the test programs of FOLDER/tests, if there are any. Prints what it found as `@file NAME`, base64
# and `@end`, of a test `test-PROGRAM` and `status-PROGRAM`; who called it judges.
folder=$1 cgroups=$2 port=$3 seconds=$4
shift 4
url=http://127.0.0.1:$port
pids=
mkdir -p "$folder/out/store"

show() { echo "@file $1"; busybox base64; echo "@end"; }

start() {
  while read -r when uid id child command; do
    [ "$when" = "$1" ] || continue
    path=$cgroups/kubepods/burstable/pod$uid/$id
    [ "$child" = . ] || path=$path/$child
    mkdir -p "$path"
    # shellcheck disable=SC2086 # The command's arguments are words.
    (echo 0 >"$path/cgroup.procs" && exec "$folder"/$command) >/dev/null 2>&1 &
    pids="$pids $!"
  done <"$folder/plan"
}

stop() {
  # shellcheck disable=SC2086 # A list of numbers.
  kill $pids $daemon 2>/dev/null
  wait $daemon
  echo "$?" | show status
  wait
  show log <"$folder/out/log"
  # A cgroup is empty only some time after its last process.
  for _ in 1 2 3 4 5; do
    left=
    while read -r when uid id child command; do
      for path in "pod$uid/$id/$child" "pod$uid/$id" "pod$uid" .; do
        rmdir "$cgroups/kubepods/burstable/$path" 2>/dev/null
      done
      [ ! -d "$cgroups/kubepods/burstable/pod$uid" ] || left=1
    done <"$folder/plan"
    [ -n "$left" ] || break
    sleep 1
  done
  rmdir "$cgroups/kubepods/burstable" "$cgroups/kubepods" 2>/dev/null
}

for test in "$folder"/tests/*; do
  [ -x "$test" ] || continue
  "$test" >"$folder/out/test" 2>&1
  echo "$?" | show "status-${test##*/}"
  show "test-${test##*/}" <"$folder/out/test"
done

start before
"$folder/firetowerd" --standalone --listen "127.0.0.1:$port" --store "file://$folder/out/store" \
  --window-seconds 5 --slice-milliseconds 1000 "$@" >"$folder/out/log" 2>&1 &
daemon=$!
ready=
for _ in $(seq 120); do
  if busybox wget -q -O /dev/null "$url/readyz"; then ready=1; break; fi
  kill -0 $daemon 2>/dev/null || break
  sleep 1
done
uname -r | show uname
if [ -n "$ready" ]; then
  start after
  sleep "$seconds"
  all=
  while read -r when uid id child command; do
    name=$(echo "$id" | busybox cut -c 1-12)
    "$folder/firetower" --server "$url" get "{namespace=\"-\",pod=\"$uid\",container=\"$name\"}" \
      --since 10m -o pprof 2>>"$folder/out/log" | show "$name"
    all="$all|$name"
  done <"$folder/plan"
  "$folder/firetower" --server "$url" get "{container!~\"${all#|}\"}" --since 10m -o pprof \
    2>>"$folder/out/log" | show others
  "$folder/firetower" --server "$url" top containers -o json 2>>"$folder/out/log" | show top
  busybox wget -q -O - "$url/metrics" | show metrics
fi
stop
