# Starts a server in the background, and waits until it listens: `start_server COMMAND …` sets `server` and `url`.
# What it prints is in "$work/output", its log in "$work/log".
start_server() {
  : >"$work/output"
  "$@" >"$work/output" 2>"$work/log" &
  server=$!
  for _ in $(seq 600); do
    url=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/output")
    [ -z "$url" ] || return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server did not start"
  cat "$work/log"
  exit 1
}
