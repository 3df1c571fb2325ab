#!/bin/sh
# Compiles every .proto here with protoc to the .pb beside it; those of editions, and protoc's own descriptor.proto, with
# one that knows editions. With --check, writes nothing and fails when one differs.
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
# compile NAME COMMAND...: makes NAME by the command, which gets the options that say how.
compile() {
  name=$1
  shift
  "$@" --descriptor_set_out="$scratch/$name"
  if cmp -s "$scratch/$name" "$name"; then
    return
  fi
  if $check; then
    echo "descriptors/$name differs from what protoc makes of its source" >&2
    stale=1
  else
    cp "$scratch/$name" "$name"
    echo "$name"
  fi
}

compile descriptor.pb ./protoc-editions google/protobuf/descriptor.proto
for proto in *.proto; do
  protoc=protoc
  if grep -q '^edition = ' "$proto"; then
    protoc=./protoc-editions
  fi
  compile "${proto%.proto}.pb" "$protoc" --proto_path=. --include_imports "$proto"
done
exit $stale
