#!/usr/bin/env bash
# Copies a folder to where it is safe.
set -euo pipefail

source ./lib/log.sh

TARGET=${TARGET:-/var/backups}

# Name of today's archive.
archive_name() {
  local day
  day=$(date +%F)
  echo "backup-${day}.tar.gz"
}

function main {
  local from=$1
  if [[ ! -d $from ]]; then
    log_error "no folder $from"
    return 1
  fi
  tar -czf "$TARGET/$(archive_name)" "$from"
}

main "$@"
