# Follows "As a Debian package" of docs/operators/install.md to the letter, as root on a fresh Debian, in a clone; apt installs
# what it recommends, too, as it does by default. Then it makes a domain, and asks DNS. Ends with 1 if an answer is not as it
# should be.
set -eu
page=docs/operators/install.md
export DEBIAN_FRONTEND=noninteractive

# commands BEGINNING: the indented commands below the line of the page that begins so, up to the next step or section.
commands() {
  awk -v beginning="$1" '
    index($0, beginning) == 1 { isIn = 1; next }
    /^(## |[0-9]+\. )/ { isIn = 0 }
    isIn && /^    / { sub(/^ +/, ""); print }' "$page"
}

run() {
  commands "$1" | grep . >/tmp/commands
  cat /tmp/commands
  sh -eu /tmp/commands
}

# What runs on a Debian that was installed, and not here.
install -m 755 test/versions/systemctl /usr/local/bin/systemctl
# A person says yes.
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
apt-get -o Acquire::Check-Valid-Until=false update >/dev/null
apt-get install curl bind9-dnsutils >/dev/null

run '## As a Debian package'
pg_ctlcluster "$(ls /etc/postgresql)" main start 2>/dev/null || true
run '1. Create the database'
run '2. Give PowerDNS'
run '3. Write the settings'
run '4. Start the service' >/tmp/started
cat /tmp/started

failed=0
# check PATTERN TEXT
check() {
  if echo "$2" | grep -q "$1"; then echo "✔ $1"; else
    echo "✘ $1, as $(id -un), in: $2"
    failed=1
  fi
}
for _ in $(seq 60); do
  curl --silent --fail http://127.0.0.1:8080/readyz >/dev/null && break
  sleep 1
done
secret=$(sed -n "s/^secret *//p" /tmp/started)
api() {
  curl --silent --header "Authorization: Token $secret" --header 'Content-Type: application/json' "$@"
}
api http://127.0.0.1:8080/api/v1/domains/ --data '{"name":"example.test"}' >/dev/null
check '"records":\["192.0.2.1"\]' "$(api http://127.0.0.1:8080/api/v1/domains/example.test/rrsets/ \
  --data '{"subname":"www","type":"A","ttl":300,"records":["192.0.2.1"]}')"
check 'RRSIG.A 13 3 300' "$(dig @127.0.0.1 +dnssec www.example.test A)"
[ "$failed" = 0 ] || tail -n 40 /var/log/pdns*.log /var/log/zoneplane.log
exit $failed
