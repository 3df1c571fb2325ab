#!/bin/sh
# Compiles every .proto here with protoc to the .pb beside it. With --check, writes nothing and fails when one differs.
set -eu
cd "$(dirname "$0")"

check=false
case "${1-}" in
'') ;;
--check) check=true ;;
*)
  echo "usage: $0 [--check]" >&2
  exit 2
  ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

stale=0
for proto in *.proto; do
  name=${proto%.proto}.pb
  protoc --proto_path=. --include_imports --descriptor_set_out="$scratch/$name" "$proto"
  if cmp -s "$scratch/$name" "$name"; then
    continue
  fi
  if $check; then
    echo "descriptors/$name differs from what protoc makes of $proto" >&2
    stale=1
  else
    cp "$scratch/$name" "$name"
    echo "$name"
  fi
done
exit $stale
