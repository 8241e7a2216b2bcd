# Runs `npm start` and the README's first request, and then, as the README says that the next start finds the data again,
# `npm start` and the commands that it prints. Ends with 1 if an answer is not as it should be.
set -u
log=$(mktemp)
failed=0

start() {
  # Before: the shell empties it in the background, and could do so after the first look.
  : >"$log"
  npm start >"$log" 2>&1 &
  until grep -q '^Zoneplane is ready' "$log"; do
    if ! kill -0 $!; then
      cat "$log"
      echo "✘ npm start, as $(id -un)"
      exit 1
    fi
    sleep 1
  done
  cat "$log"
}

stop() {
  kill $!
  wait $!
}

# run COMMANDS: runs them; their output has an RRset and its signed A record.
run() {
  answer=$(echo "$1" | sh 2>&1)
  for pattern in '"records":\["192.0.2.1"\]' 'status: NOERROR' 'RRSIG.A 13 3 300'; do
    if echo "$answer" | grep -q "$pattern"; then
      echo "✔ $pattern, as $(id -un)"
    else
      echo "✘ $pattern, as $(id -un), in: $answer"
      failed=1
    fi
  done
}

start
run "$(sed -n '/^### First request/,/^## / { s/TOKEN=…/TOKEN=$(cat .zoneplane\/token)/; /^    /p }' README.md)"
stop
start
run "$(grep -E '^  (curl|dig) ' "$log")"
stop
exit $failed
